"""Asks datasets 5.0.1 (fsspec 2026.6.0) which files are which split, over folders written by hand and folders of random names.

Run it anywhere; it writes layouts.json here. Each line: the files, the README, and either the splits of each configuration with their
files in order, or why datasets refuses the folder. Empty lists of a split mean that no file of it holds rows.
"""
import json
import pathlib
import random
import tempfile

import datasets
from datasets import config

config.HF_DATASETS_CACHE = tempfile.mkdtemp()
datasets.logging.set_verbosity_error()

HAND = [
    ["data/train_gen-00000-of-00001.parquet", "data/train_sft-00000-of-00001.parquet", "data/test_sft-00000-of-00001.parquet"],
    ["training.jsonl", "val.jsonl"],
    ["train.jsonl", "valid.jsonl"],
    ["train.jsonl", "dev.jsonl", "eval.jsonl"],
    ["data/tiny-00000-of-00001.parquet"],
    ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/extra.parquet", "train.jsonl"],
    ["main/train-00000-of-00001.parquet", "socratic/train-00000-of-00001.parquet", "main/test-00000-of-00001.parquet"],
    ["full/prompt-00000-of-00001.parquet", "full/train-00000-of-00001.parquet"],
    ["train/a.jsonl", "train/b.jsonl", "test.jsonl"],
    ["train/a/b.jsonl", "validation/x.jsonl", "testing/y.jsonl"],
    ["train_data/a.jsonl", "my-test/b.jsonl"],
    ["questions.jsonl"],
    ["a.jsonl", "b.jsonl", "c.csv"],
    ["a.jsonl", "b.csv"],
    ["train.parquet", "train.jsonl"],
    ["train.jsonl", "train.csv", "train2.csv", "notes.txt"],
    ["train.jsonl.gz", "test.jsonl.gz"],
    ["x_train.csv", "x_test.csv"],
    ["contrain.jsonl", "latest.jsonl"],
    ["TRAIN.jsonl", "Test.jsonl"],
    ["ifeval_input_data.jsonl"],
    [".hidden/train.jsonl", "train.jsonl", "__pycache__/train.jsonl", ".train.jsonl"],
    ["dataset_info.json", "config.json", "data.json"],
    ["train_notes.md", "data.jsonl"],
    ["train-00000-of-00001.ndjson", "test1.ndjson"],
    ["train.txt", "data.jsonl"],
    ["data/train/a.tsv", "data/evaluation/b.tsv"],
    ["data.json"],
    ["validation-v1.jsonl", "train v1.jsonl"],
    ["data/a-b-00000-of-00001.parquet"],
    ["deep/er/train/x.jsonl", "deep/er/dev/y.jsonl"],
    ["train.arrow", "test.arrow"],
    ["README.txt", "train.jsonl"],
    ["train-train.jsonl"],
    ["notes.md"],
    ["trainset.jsonl", "testset.jsonl"],
    ["eval_train.jsonl", "eval_test.jsonl"],
    ["train_test_split/train.jsonl", "train_test_split/test.jsonl"],
]
TWO = "- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n  - split: test\n    path: main/test-*\n- config_name: socratic\n  data_files:\n  - split: train\n    path: socratic/train-*\n"
SHARDS = ["main/train-00000-of-00002.parquet", "main/train-00001-of-00002.parquet", "main/test-00000-of-00001.parquet", "socratic/train-00000-of-00001.parquet"]
CARDS = [
    (SHARDS, TWO),
    (SHARDS, TWO.replace("socratic\n", "socratic\n  default: true\n", 1)),
    (SHARDS, TWO.replace("config_name: main", "config_name: default")),
    (["a.jsonl", "b.jsonl"], "- config_name: only\n  data_files: b.jsonl\n"),
    (["a.jsonl", "b.jsonl", "c.jsonl"], "- config_name: only\n  data_files: [c.jsonl, a.jsonl]\n"),
    (["a.jsonl", "b.jsonl", "c.jsonl"], "- config_name: only\n  data_files:\n  - split: easy\n    path: [c.jsonl, a.jsonl]\n  - split: hard\n    path: b.jsonl\n"),
    (["x/a.jsonl", "y/b.jsonl"], "- config_name: only\n  data_files: '*/*.jsonl'\n"),
    (["x/y/a.jsonl", "b.jsonl"], "- config_name: only\n  data_files: '**/*.jsonl'\n"),
    (["x/train.jsonl", "x/test.jsonl", "y/train.jsonl"], "- config_name: x\n  data_dir: x\n- config_name: y\n  data_dir: y\n"),
    (["train.jsonl", "test.jsonl"], "- config_name: all\n"),
    (["a1.jsonl", "a2.jsonl", "b1.jsonl"], "- config_name: only\n  data_files:\n  - split: one\n    path: a[0-9].jsonl\n  - split: two\n    path: b?.jsonl\n"),
    (["a.jsonl"], "- config_name: only\n  data_files: missing.jsonl\n"),
    (["a.jsonl"], "- config_name: only\n  data_files: missing*.jsonl\n"),
    (["a.jsonl"], "- data_files: a.jsonl\n"),
    (["a.jsonl"], "a.jsonl\n"),
    (["a.jsonl"], "- config_name: only\n  data_files:\n  - split: a-b\n    path: a.jsonl\n"),
    (["a.jsonl", "b.jsonl"], "- config_name: one\n  default: true\n  data_files: a.jsonl\n- config_name: two\n  default: true\n  data_files: b.jsonl\n"),
    (["a.jsonl", "b.csv"], "- config_name: only\n  data_files:\n  - split: train\n    path: a.jsonl\n  - split: train\n    path: b.csv\n"),
]


def random_layouts(count, seed):
    dice = random.Random(seed)
    words = ["train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval", "evaluation", "data", "set", "x", "v1", "math", "2"]
    for _ in range(count):
        names = set()
        for _ in range(dice.randint(1, 5)):
            parts = ["".join(dice.choice(words) + dice.choice(["", "_", "-", ".", " "]) for _ in range(dice.randint(1, 2))).strip(" .") for _ in range(dice.randint(1, 3))]
            names.add("/".join(parts) + dice.choice([".jsonl", ".jsonl", ".csv", "-00000-of-00001.parquet"]))
        files = sorted(n for n in names if not any(m.startswith(n + "/") for m in names))
        yield files


def ask(files, card):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "set")
        for name in files:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"a": 1}\n')
        if card is not None:
            (root / "README.md").write_text(f"---\nconfigs:\n{card}---\n# Card\n")
        try:
            names = datasets.get_dataset_config_names(str(root))
            default = ""
            try:
                default = datasets.load_dataset_builder(str(root)).config.name
            except ValueError as e:
                if "Config name is missing" not in str(e):
                    raise
            configs = {}
            for name in names:
                builder = datasets.load_dataset_builder(str(root), name)
                configs[name] = {str(s): [str(pathlib.Path(f).relative_to(root.resolve())) for f in fs] for s, fs in builder.config.data_files.items()}
            return {"default": default, "configs": configs}
        except Exception as e:
            return {"refused": f"{type(e).__name__}: {e}".replace(str(root), "SET").split("\n")[0][:90]}


layouts = [(f, None) for f in HAND] + CARDS + [(f, None) for f in random_layouts(120, 20261129)]
with open(pathlib.Path(__file__).parent / "layouts.json", "w") as out:
    lines = [json.dumps({"files": f, "readme": c, **ask(f, c)}) for f, c in layouts]
    out.write("[\n" + ",\n".join(lines) + "\n]\n")
