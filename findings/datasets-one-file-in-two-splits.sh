#!/usr/bin/env bash
# datasets 5.0.1: the place of a file can put it into two splits, or twice into one, without a word.
#   train_test_split/train.jsonl   is all of `train` and all of `test`: training rows are evaluated on
#   train-train.jsonl              is in `train` twice: two rows become four
# Split words are looked for in the folder's name and in the file's name, each by itself.
# Seen on Python 3.12: {'train': [1, 2], 'test': [1, 2]} and {'train': [1, 2, 1, 2]}.
# Exits with 0 while it is so, and with 1 when it has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q datasets==5.0.1 pyarrow==25.0.1
mkdir -p folder/train_test_split file
printf '{"x": 1}\n{"x": 2}\n' | tee folder/train_test_split/train.jsonl >file/train-train.jsonl
HF_HUB_OFFLINE=1 HF_HOME=$work/home venv/bin/python - <<'PY'
import datasets

found = {
    name: {split: list(rows["x"]) for split, rows in datasets.load_dataset(name).items()}
    for name in ("folder", "file")
}
print(datasets.__version__, found)
as_seen = {"folder": {"train": [1, 2], "test": [1, 2]}, "file": {"train": [1, 2, 1, 2]}}
raise SystemExit(found != as_seen)
PY
