"""Writes the same rows in every format and type that the usual software writes, and rows.json, which says what they are.

Written with Python 3.12, pyarrow 25.0.1, datasets 5.0.1, pandas 3.1.1, fastparquet 2026.9.0.
Run it in an empty folder. types.json maps each file to the rows that Troupe makes of it: the values that Python reads, with times as
isoformat() gives them, durations and intervals as ISO 8601, maps as objects and decimals as texts of their numbers.
"""
import datetime as dt
import decimal
import json
import os
import uuid

import fastparquet
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

D = decimal.Decimal
UTC = dt.timezone.utc
U = uuid.UUID("550e8400-e29b-41d4-a716-446655440000")
T = dt.datetime(2024, 5, 1, 10, 20, 30)
TEXTS = ["a", None, "grün, twelve and more bytes", ""]

# name: (array, what Troupe reads)
COLUMNS = {
    "bool": (pa.array([True, None, False, True]), [True, None, False, True]),
    "null": (pa.nulls(4), [None] * 4),
    "text": (pa.array(TEXTS), TEXTS),
    "large_string": (pa.array(TEXTS, pa.large_string()), TEXTS),
    "string_view": (pa.array(TEXTS, pa.string_view()), TEXTS),
    "binary": (pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary()), TEXTS),
    "large_binary": (pa.array([None if t is None else t.encode() for t in TEXTS], pa.large_binary()), TEXTS),
    "binary_view": (pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary_view()), TEXTS),
    "fixed_binary": (pa.array([b"abc", None, b"def", b"ghi"], pa.binary(3)), ["abc", None, "def", "ghi"]),
    "float16": (pa.array([np.float16(1.5), None, np.float16(0.1), np.float16(-2048)], pa.float16()), [1.5, None, 0.1, -2048]),
    "float32": (pa.array([1.5, None, 0.1, 16777216], pa.float32()), [1.5, None, 0.1, 16777216]),
    "float64": (pa.array([12345678.0, None, 0.1, 1e22]), [12345678, None, 0.1, 10**22]),
    "small_float": (pa.array([-0.0, None, 2.5e-7, 123456789.125]), [0, None, 2.5e-7, 123456789.125]),
    "decimal32": (pa.array([D("1.50"), None, D("-3.25"), D("0.00")], pa.decimal32(9, 2)), ["1.50", None, "-3.25", "0.00"]),
    "decimal64": (pa.array([D("1.50"), None, D("-3.25"), D("99999999.99")], pa.decimal64(15, 2)), ["1.50", None, "-3.25", "99999999.99"]),
    "decimal128": (pa.array([D("1.50"), None, D("-3.25"), D("12345678901234567890.12")], pa.decimal128(38, 2)), ["1.50", None, "-3.25", "12345678901234567890.12"]),
    "decimal256": (pa.array([D("1.5"), None, D("-3.2"), D("1" * 50)], pa.decimal256(60, 1)), ["1.5", None, "-3.2", "1" * 50 + ".0"]),
    "date32": (pa.array([dt.date(2024, 5, 1), None, dt.date(1969, 12, 31), dt.date(1, 1, 1)]), ["2024-05-01", None, "1969-12-31", "0001-01-01"]),
    "date64": (pa.array([dt.date(2024, 5, 1), None, dt.date(1969, 12, 31), dt.date(2000, 2, 29)], pa.date64()), ["2024-05-01", None, "1969-12-31", "2000-02-29"]),
    "time32s": (pa.array([dt.time(10, 20, 30), None, dt.time(0), dt.time(23, 59, 59)], pa.time32("s")), ["10:20:30", None, "00:00:00", "23:59:59"]),
    "time32ms": (pa.array([dt.time(10, 20, 30, 5000), None, dt.time(0), dt.time(1)], pa.time32("ms")), ["10:20:30.005000", None, "00:00:00", "01:00:00"]),
    "time64us": (pa.array([dt.time(10, 20, 30, 5), None, dt.time(0), dt.time(1)], pa.time64("us")), ["10:20:30.000005", None, "00:00:00", "01:00:00"]),
    "time64ns": (pa.array([1, None, 0, 10**9], pa.time64("ns")), ["00:00:00.000000001", None, "00:00:00", "00:00:01"]),
    "duration_s": (pa.array([dt.timedelta(seconds=90), None, dt.timedelta(days=2), dt.timedelta(0)], pa.duration("s")), ["PT1M30S", None, "PT48H", "PT0S"]),
    "duration_ns": (pa.array([1500000000, None, -1000, 0], pa.duration("ns")), ["PT1.5S", None, "PT-0.000001S", "PT0S"]),
    "uuid": (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([U.bytes, None, U.bytes, U.bytes], pa.binary(16))), [str(U), None, str(U), str(U)]),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 0, 5], pa.int8())), [True, None, False, True]),
    "json": (pa.array(['{"a": [1, {"b": null}]}', None, '"t"', "[1.0, 2.50]"], pa.json_()), [{"a": [1, {"b": None}]}, None, "t", [1, 2.5]]),
    "json_list": (pa.ListArray.from_arrays([0, None, 2, 2, 4], pa.array(['{"b": 0}', '{"c": 0}', None, "3"], pa.json_())), [[{"b": 0}, {"c": 0}], None, [], [None, 3]]),
    "list": (pa.array([[1, 2], None, [], [None]], pa.list_(pa.int32())), [[1, 2], None, [], [None]]),
    "nested": (pa.array([[[{"a": 1}], []], None, [None], [[{"a": None}, None]]]), [[[{"a": 1}], []], None, [None], [[{"a": None}, None]]]),
    "large_list": (pa.array([[1, 2], None, [], [None]], pa.large_list(pa.int64())), [[1, 2], None, [], [None]]),
    "fixed_list": (pa.array([[1, 2], None, [3, 4], [None, 5]], pa.list_(pa.int16(), 2)), [[1, 2], None, [3, 4], [None, 5]]),
    "struct": (pa.array([{"x": 1, "t": T}, None, {"x": None, "t": None}, {"x": 2, "t": T}]), [{"x": 1, "t": T.isoformat()}, None, {"x": None, "t": None}, {"x": 2, "t": T.isoformat()}]),
    "map": (pa.array([[("k", 1), ("l", None)], None, [], [("m", 3)]], pa.map_(pa.string(), pa.int64())), [{"k": 1, "l": None}, None, {}, {"m": 3}]),
    "map_of_numbers": (pa.array([[(1, ["a"])], None, [], [(2, [])]], pa.map_(pa.int32(), pa.list_(pa.string()))), [{"1": ["a"]}, None, {}, {"2": []}]),
    "dictionary": (pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int8()), pa.array(["x", "y"])), ["y", None, "x", "y"]),
    "unsigned_dictionary": (pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.uint16()), pa.array([7, 9])), [9, None, 7, 9]),
}
for bits in (8, 16, 32, 64):
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    COLUMNS[f"int{bits}"] = (pa.array([low, None, 0, high], getattr(pa, f"int{bits}")()), [low, None, 0, high])
    COLUMNS[f"uint{bits}"] = (pa.array([1, None, 0, 2**bits - 1], getattr(pa, f"uint{bits}")()), [1, None, 0, 2**bits - 1])
for unit, micros in (("s", 0), ("ms", 5000), ("us", 5), ("ns", 5)):
    at = T.replace(microsecond=micros)
    old = dt.datetime(1901, 2, 3, 4, 5, 6, micros)
    COLUMNS[f"timestamp_{unit}"] = (pa.array([at, None, old, T], pa.timestamp(unit)), [at.isoformat(), None, old.isoformat(), T.isoformat()])
    for zone in ("UTC", "Europe/Berlin", "-03:30"):
        # isoformat() of what Arrow's zone makes of the moment
        values = pa.array([at, None, T, T], pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, zone))
        COLUMNS[f"timestamp_{unit}_{zone}"] = (values, [None if v is None else v.isoformat() for v in values.to_pylist()])

# Types that Arrow has and Parquet has not.
ARROW_ONLY = {
    "list_view": (pa.array([[1, 2], None, [], [None]], pa.list_view(pa.int32())), [[1, 2], None, [], [None]]),
    "large_list_view": (pa.array([["a"], None, [], [None]], pa.large_list_view(pa.string())), [["a"], None, [], [None]]),
    "run_ends": (pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int32()), pa.array(["x", None, "y"])), ["x", None, None, "y"]),
    "short_run_ends": (pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int16()), pa.array([1.0, 2.5])), [1, 1, 2.5, 2.5]),
    "sparse_union": (pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(["a", "b", None, "d"])]), [1, "b", 3, "d"]),
    "dense_union": (pa.UnionArray.from_dense(pa.array([0, 1, 1, 0], pa.int8()), pa.array([0, 0, 1, 1], pa.int32()), [pa.array([1, None]), pa.array(["a", "b"])]), [1, "a", "b", None]),
    "interval": (pa.array([pa.MonthDayNano([14, 3, 1500000000]), None, pa.MonthDayNano([0, 0, 10**9]), pa.MonthDayNano([1, 0, 0])]), ["P1Y2M3DT1.5S", None, "PT1S", "P1M"]),
}
cases = {}


def expect(name, columns, size=4):
    cases[name] = [{c: v[1][i] for c, v in columns.items()} for i in range(size)]


def table(columns):
    return pa.table({name: array for name, (array, _) in columns.items()})


def stream(name, batches, schema, options=None):
    with pa.OSFile(name, "wb") as sink, pa.ipc.new_stream(sink, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


both = {**COLUMNS, **ARROW_ONLY}
whole = table(both)
for name, codec in (("types-stream.arrow", None), ("types-lz4.arrow", "lz4"), ("types-zstd.arrow", "zstd")):
    stream(name, whole.to_batches(), whole.schema, pa.ipc.IpcWriteOptions(compression=codec))
    expect(name, both)
with pa.OSFile("types-file.arrow", "wb") as sink, pa.ipc.new_file(sink, whole.schema) as writer:
    writer.write_table(whole.slice(0, 1))
    writer.write_table(whole.slice(1))
expect("types-file.arrow", both)
few = {c: COLUMNS[c] for c in ("text", "float64", "nested", "uint64", "dictionary")}
feather.write_feather(table(few), "default.feather")
expect("default.feather", few)

words = [["x"], ["x", "y"], ["x", "y", "z"]]
schema = pa.schema([("w", pa.dictionary(pa.int32(), pa.string()))])
deltas = [pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([len(w) - 1, 0], pa.int32()), pa.array(w))], schema) for w in words]
stream("deltas.arrow", deltas, schema, pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True))
stream("replaced.arrow", deltas, schema, pa.ipc.IpcWriteOptions(emit_dictionary_deltas=False))
for name in ("deltas.arrow", "replaced.arrow"):
    cases[name] = [{"w": w} for w in ("x", "x", "y", "x", "z", "x")]

variant = pa.field("variants", pa.struct([("metadata", pa.binary()), ("value", pa.binary())]), metadata={"ARROW:extension:name": "arrow.parquet.variant"})
odd = pa.table([pa.array(["a"]), pa.array([b"\xff\x00"]), pa.array([{"metadata": b"\x01", "value": b"\x00"}], variant.type)], schema=pa.schema([("id", pa.string()), ("bytes", pa.binary()), variant]))
stream("unreadable.arrow", odd.to_batches(), odd.schema)

parquet = table(COLUMNS)
for name, options in {
    "types.parquet": {},
    "types-no-schema-v1.parquet": {"store_schema": False, "version": "1.0", "use_dictionary": False, "columns": ["timestamp_ns", "text", "list", "uint8", "uint16", "decimal64", "json_list"]},
    "types-spark.parquet": {"use_deprecated_int96_timestamps": True, "store_schema": False, "write_page_index": False, "flavor": "spark", "columns": ["timestamp_us", "timestamp_ns", "text", "decimal32", "decimal64", "decimal128", "map", "struct", "int8"]},
    **{f"codec-{c}.parquet": {"compression": c, "columns": ["text", "nested", "float64"]} for c in ("none", "snappy", "gzip", "zstd", "brotli", "lz4")},
    "pages-v2.parquet": {"data_page_version": "2.0", "columns": ["text", "nested", "float64", "bool"]},
    "delta.parquet": {"use_dictionary": False, "columns": ["int32", "int64", "text", "large_string"], "column_encoding": {"int32": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY", "large_string": "DELTA_LENGTH_BYTE_ARRAY"}},
    "split.parquet": {"use_dictionary": False, "columns": ["int32", "int64", "float32", "float64", "float16", "fixed_binary"], "column_encoding": {c: "BYTE_STREAM_SPLIT" for c in ("int32", "int64", "float32", "float64", "float16", "fixed_binary")}},
    "old-lists.parquet": {"use_compliant_nested_type": False, "columns": ["list", "nested", "json_list"]},
}.items():
    names = options.pop("columns", list(COLUMNS))
    pq.write_table(parquet.select(names), name, **options)
    expect(name, {c: COLUMNS[c] for c in names})

# pandas' own numbers, and fastparquet's way of writing them
frame = pd.DataFrame({"n": [12345678.0, 0.5, 2.0, 1e16], "u": np.array([1, 2, 3, 2**32 - 1], np.uint32), "t": ["a", "b", "c", "d"], "at": pd.to_datetime([T] * 4), "none": [1.0, None, 3.0, 4.0]})
cases["fastparquet.parquet"] = [{"n": n, "u": u, "t": t, "at": T.isoformat(), "none": m} for n, u, t, m in zip([12345678, 0.5, 2, 10**16], [1, 2, 3, 2**32 - 1], "abcd", [1, None, 3, 4])]
fastparquet.write("fastparquet.parquet", frame, compression="SNAPPY")
frame.to_parquet("pandas.parquet")
cases["pandas.parquet"] = cases["fastparquet.parquet"]
frame.drop(columns="at").to_json("pandas.jsonl", orient="records", lines=True)
cases["pandas.jsonl"] = [{k: v for k, v in row.items() if k != "at"} for row in cases["pandas.parquet"]]
frame[["n", "t"]].to_csv("pandas.csv", index=False)
cases["pandas.csv"] = [{"n": n, "t": t} for n, t in zip(["12345678.0", "0.5", "2.0", "1e+16"], "abcd")]
texts = [{"q": 'He said "hi", then\nleft', "a": ""}, {"q": "grün", "a": "007"}, {"q": "", "a": "1,5"}]
for name, separator in (("quotes.csv", ","), ("quotes.tsv", "\t"), ("quotes.csv.gz", ",")):
    pd.DataFrame(texts).to_csv(name, index=False, sep=separator, encoding="utf-8-sig" if name.endswith("v") else "utf-8", lineterminator="\r\n", compression={"method": "gzip", "mtime": 0} if name.endswith("z") else None)
    cases[name] = texts
with open("python.json", "w") as f:
    json.dump([{"a": float("nan"), "b": 1e7, "c": 1e-7, "d": float("-inf"), "e": 2**70}], f)
cases["python.json"] = [{"a": "NaN", "b": 10000000, "c": 1e-7, "d": "-Infinity", "e": 2**70}]
with open("rows.jsonl.zst", "wb") as f:
    f.write(pa.compress(b'\xef\xbb\xbf{"a": 12345678.0}\n{"a": 1.50}\n', codec="zstd", asbytes=True))
cases["rows.jsonl.zst"] = [{"a": 12345678}, {"a": 1.5}]
with open("types.json", "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sorted(cases.items())) + "\n}\n")
print(sum(os.path.getsize(f) for f in os.listdir(".")), "bytes")
