#!/usr/bin/env bash
# fastparquet 2026.9.0 stores durations as times of day. pyarrow 25.0.1 reads 26 hours as 02:00 and
# minus one hour as 23:00, in silence; fastparquet itself reads back what it wrote, by a note in the
# file's pandas metadata, so a round trip shows nothing.
# Seen on Python 3.12 with pandas 3.1.1: time64[us], 01:00, 02:00, 23:00.
# Exits with 0 while it is so, and with 1 when it has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q fastparquet==2026.9.0 pandas==3.1.1 pyarrow==25.0.1
venv/bin/python - <<'PY'
import datetime

import fastparquet
import pandas
import pyarrow.parquet

hours = ["1h", "26h", "-1h"]
fastparquet.write("rows.parquet", pandas.DataFrame({"took": pandas.to_timedelta(hours)}))
column = pyarrow.parquet.read_table("rows.parquet").column("took")
back = fastparquet.ParquetFile("rows.parquet").to_pandas()["took"]
print(fastparquet.__version__, hours, column.type, column.to_pylist(), back.tolist())
as_seen = (
    str(column.type) == "time64[us]"
    and column.to_pylist() == [datetime.time(1), datetime.time(2), datetime.time(23)]
    and back.tolist() == pandas.to_timedelta(hours).tolist()
)
raise SystemExit(not as_seen)
PY
