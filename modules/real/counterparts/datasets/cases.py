"""Rows and splits: what datasets, pyarrow, pandas and fastparquet write, and what Troupe reads."""
import datetime as dt
import decimal
import json
import os
import pathlib
import shutil
import subprocess
import sys

import datasets
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

import troupe_real as real

INTEROP = "modules/tasks/src/test/resources/io/troupe/tasks/interop"
dice = real.dice()
datasets.disable_progress_bars()
datasets.logging.set_verbosity_error()


def cell(value):
    """What Troupe makes of a cell: times as isoformat() gives them, decimals as the texts of their numbers."""
    if isinstance(value, dict):
        return {k: cell(v) for k, v in value.items()}
    if isinstance(value, list):
        return [cell(v) for v in value]
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return f"{value:f}" if isinstance(value, decimal.Decimal) else value


def same(expected, got):
    if isinstance(expected, dict) and isinstance(got, dict):
        return expected.keys() == got.keys() and all(same(v, got[k]) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(got, (int, decimal.Decimal)) and isinstance(expected, (int, float, str)):
        return decimal.Decimal(str(expected)) == got
    return expected == got


def compare(name, expected, answer):
    got = answer.get("rows", answer)
    if not isinstance(got, list) or len(got) != len(expected):
        return real.check(name, False, expected, got)
    wrong = [i for i, (a, b) in enumerate(zip(expected, got)) if not same(a, b)]
    first = wrong[0] if wrong else 0
    real.check(name, not wrong, expected[first : first + 1], got[first : first + 1], f"row {first}")


def copied(script):
    """Runs a script of the tests in a folder of its own, so that what it writes is not that of the tree."""
    folder = pathlib.Path(script).stem
    os.mkdir(folder)
    shutil.copy(real.TREE / INTEROP / script, folder)
    subprocess.run([sys.executable, script], cwd=folder, check=True, stdout=sys.stderr)
    return pathlib.Path(folder)


def recorded_files(rows):
    folder = copied("make_rows.py")
    real.recorded(f"{INTEROP}/types.json", (folder / "types.json").read_text())
    for name, expected in json.loads((folder / "types.json").read_text()).items():
        compare(f"make_rows {name}", expected, rows({"place": str(folder / name)}))
        if real.RECORD:
            shutil.copy(folder / name, real.TREE / INTEROP / name)


SCALARS = {
    "int8": (pa.int8(), lambda: dice.randint(-128, 127)),
    "int64": (pa.int64(), lambda: dice.choice([0, 2**63 - 1, -(2**63), dice.randint(-(10**9), 10**9)])),
    "uint32": (pa.uint32(), lambda: dice.choice([0, 2**32 - 1, dice.randint(0, 2**32 - 1)])),
    "uint64": (pa.uint64(), lambda: dice.choice([2**64 - 1, 2**63, dice.randint(0, 2**64 - 1)])),
    "float64": (pa.float64(), lambda: dice.choice([0.5, 1e-7, 12345678.0, 1e22, dice.uniform(-1, 1)])),
    "bool": (pa.bool_(), lambda: dice.random() < 0.5),
    "string": (pa.string(), lambda: "".join(dice.choice("ab\n\"\\,é中🙂\u2028 ") for _ in range(dice.randint(0, 9)))),
    "large_string": (pa.large_string(), lambda: dice.choice(["", "x", "long " * 40])),
    "date32": (pa.date32(), lambda: dt.date(1970, 1, 1) + dt.timedelta(days=dice.randint(-9999, 30000))),
    "timestamp": (pa.timestamp("us"), lambda: dt.datetime(2000, 1, 1) + dt.timedelta(microseconds=dice.randint(-(10**15), 10**15))),
    "time": (pa.time64("us"), lambda: dt.time(dice.randint(0, 23), dice.randint(0, 59), dice.randint(0, 59), dice.randint(0, 999999))),
    "decimal": (pa.decimal128(20, 4), lambda: decimal.Decimal(dice.randint(-(10**15), 10**15)).scaleb(-4)),
}


def random_type(depth):
    kind = dice.choice(["list", "struct", "fixed"]) if depth < 3 and dice.random() < 0.35 else dice.choice(list(SCALARS))
    if kind in SCALARS:
        type_, value = SCALARS[kind]
        return type_, lambda: None if dice.random() < 0.2 else value()
    if kind == "struct":
        fields = [(f"f{i}", random_type(depth + 1)) for i in range(dice.randint(1, 3))]
        type_ = pa.struct([(name, part) for name, (part, _) in fields])
        return type_, lambda: None if dice.random() < 0.2 else {name: value() for name, (_, value) in fields}
    inner, value = random_type(depth + 1)
    if kind == "fixed":
        size = dice.randint(1, 3)
        return pa.list_(inner, size), lambda: [value() for _ in range(size)]
    return pa.list_(inner), lambda: None if dice.random() < 0.2 else [value() for _ in range(dice.randint(0, 3))]


def write(table, name):
    form = dice.choice(["parquet", "parquet", "parquet", "stream", "feather"])
    file = f"{name}.{'arrow' if form == 'stream' else form}"
    if form == "parquet":
        options = {
            "compression": dice.choice(["none", "snappy", "gzip", "zstd", "brotli", "lz4"]),
            "data_page_version": dice.choice(["1.0", "2.0"]),
            "use_dictionary": dice.random() < 0.5,
            "row_group_size": dice.choice([1, 3, 1000]),
            "store_schema": dice.random() < 0.8,
            "data_page_size": dice.choice([64, 1 << 20]),
        }
        pq.write_table(table, file, **options)
        return file, table if options["store_schema"] else pq.read_table(file), options
    if form == "stream":
        with pa.OSFile(file, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=dice.choice([1, 4, 1000]))
    else:
        feather.write_feather(table, file, compression=dice.choice(["uncompressed", "lz4", "zstd"]))
    return file, table, {}


def random_tables(rows):
    for i in range(real.count(150)):
        name = f"random table {i} of seed {real.OPTIONS.seed}"
        with real.case(name):
            columns, size = [random_type(0) for _ in range(dice.randint(1, 5))], dice.randint(1, 12)
            table = pa.table([pa.array([value() for _ in range(size)], type_) for type_, value in columns], [f"c{j}" for j in range(len(columns))])
            file, stored, options = write(table, f"random{i}")
            compare(f"{name}: {table.schema.types} {options}", [cell(row) for row in stored.to_pylist()], rows({"place": file}))
            os.remove(file)


def saved_sets(rows):
    data = datasets.Dataset.from_list([{"id": f"r{i}", "prompt": f"{i}+1?", "answer": str(i + 1), "n": {"a": i, "b": [i, None]}} for i in range(7)])
    forms = {
        "save_to_disk": lambda p: data.save_to_disk(p),
        "save_to_disk, 3 shards": lambda p: data.save_to_disk(p, num_shards=3),
        "select": lambda p: data.select([5, 1, 1]).save_to_disk(p),
        "filter": lambda p: data.filter(lambda r: r["id"] > "r2").save_to_disk(p),
        "shuffle": lambda p: data.shuffle(seed=3).save_to_disk(p),
        "to_parquet": lambda p: (os.mkdir(p), data.to_parquet(f"{p}/train.parquet")),
        "to_json": lambda p: (os.mkdir(p), data.to_json(f"{p}/train.jsonl")),
        "to_json of one list": lambda p: (os.mkdir(p), data.to_json(f"{p}/train.json", orient="records", lines=False)),
        "to_csv": lambda p: (os.mkdir(p), data.remove_columns("n").to_csv(f"{p}/train.csv")),
    }
    for i, (name, save) in enumerate(forms.items()):
        with real.case(f"saved by {name}"):
            place = f"saved{i}"
            save(place)
            try:
                back = datasets.load_from_disk(place)
            except FileNotFoundError:
                back = datasets.load_dataset(place, split="train")
            expected = [{k: str(v) for k, v in row.items()} if name == "to_csv" else row for row in back.to_list()]
            compare(f"saved by {name}", expected, rows({"place": place, "split": "train"}))
    with real.case("cache files of map beside a saved set"):
        data.save_to_disk("mapped")
        datasets.load_from_disk("mapped").map(lambda r: {"id": "m" + r["id"], "answer": "999"})
        compare("cache files of map beside a saved set", data.to_list(), rows({"place": "mapped", "split": "train"}))
    with real.case("splits of a DatasetDict"):
        datasets.DatasetDict(train=data, test=data.select([0])).save_to_disk("both")
        for split, size in (("train", 7), ("test", 1)):
            compare(f"split {split} of a DatasetDict", data.to_list()[:size], rows({"place": "both", "split": split}))
    objects = [{"key": 1, "kwargs": [{"end": "That is all."}]}, {"key": 2, "kwargs": [{"n": 12, "deep": {"x": [1]}}]}]
    pathlib.Path("objects.jsonl").write_text("".join(json.dumps(row) + "\n" for row in objects))
    loaded = datasets.load_dataset("json", data_files="objects.jsonl", split="train")
    for name, save in (("save_to_disk", lambda: loaded.save_to_disk("objects")), ("to_parquet", lambda: loaded.to_parquet("objects.parquet"))):
        with real.case(f"JSON columns by {name}"):
            save()
            compare(f"JSON columns by {name}", objects, rows({"place": "objects" if name == "save_to_disk" else "objects.parquet", "split": "train"}))


WORDS = ["train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval", "data", "set", "x", "v1", "math", "2"]


def random_layout(root):
    for i in range(dice.randint(1, 5)):
        parts = [dice.choice(WORDS) + dice.choice(["", "_", "-"]) + dice.choice(["", *WORDS]) for _ in range(dice.randint(1, 3))]
        file = root.joinpath(*parts[:-1], parts[-1] + ".jsonl")
        if not any(parent.is_file() for parent in file.parents):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"file": str(file.relative_to(root))}) + "\n")


def splits(root):
    """The files of each split, without those that datasets takes twice; or why it refuses the folder."""
    try:
        files = datasets.load_dataset_builder(str(root)).config.data_files
        return {str(s): list(dict.fromkeys(str(pathlib.Path(f).relative_to(root.resolve())) for f in fs)) for s, fs in files.items()}
    except Exception as refused:
        return f"{type(refused).__name__}: {refused}"


def layouts(rows):
    folder = copied("make_layouts.py")
    real.recorded(f"{INTEROP}/layouts.json", (folder / "layouts.json").read_text())
    for i in range(real.count(60)):
        root = pathlib.Path(f"layout{i}")
        with real.case(f"random layout {i} of seed {real.OPTIONS.seed}"):
            random_layout(root)
            found = splits(root)
            name = f"layout {sorted(str(f.relative_to(root)) for f in root.rglob('*.jsonl'))}"
            if isinstance(found, str):
                real.skip(name, found)
                continue
            every = [file for files in found.values() for file in files]
            for split, files in found.items():
                answer = rows({"place": str(root), "split": split})
                if len(set(every)) < len(every):  # one file in two splits: Troupe refuses them by name
                    real.check(f"{name}, {split}", "refused" in answer, "refused", answer)
                else:
                    real.equal(f"{name}, {split}", files, [row["file"] for row in answer["rows"]] if "rows" in answer else answer)


with real.Probe("RowsProbe") as rows:
    for part in (recorded_files, random_tables, saved_sets, layouts):
        with real.case(part.__name__):
            part(rows)
