"""Tokenizers of every kind that the library makes: ids of texts, and texts of ids."""
import json
import os
import pathlib
import sys
import unicodedata

import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import troupe_real as real

PYTHON = real.TREE / "modules/engine-djl/src/test/python"
RECORDED = "modules/engine-djl/src/test/resources/io/troupe/engine/djl/recorded_tokenizers.json"
sys.path.append(str(PYTHON))
import recorded_tokenizers as kinds  # noqa: E402

dice = real.dice()
BLOCKS = [(0x20, 0x7E), (0xA0, 0x2FF), (0x300, 0x36F), (0x400, 0x4FF), (0x600, 0x6FF), (0x900, 0x97F), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0x1F300, 0x1F64F), (0x0, 0x1F), (0x2000, 0x206F), (0xFE00, 0xFE0F)]


def character():
    low, high = dice.choice(BLOCKS)
    return chr(dice.randint(low, high))


def text():
    parts = [dice.choice(kinds.PIECES) if dice.random() < 0.6 else "".join(character() for _ in range(dice.randint(1, 4))) for _ in range(dice.randint(0, 12))]
    return unicodedata.normalize(dice.choice(["NFC", "NFD"]), "".join(parts)) if dice.random() < 0.2 else "".join(parts)


def compare(name, made, tokens):
    """200 texts and 100 lists of ids of one tokenizer."""
    folder = pathlib.Path(name.replace(" ", "_"))
    os.makedirs(folder, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    size = made.get_vocab_size()
    opened = tokens({"folder": str(folder), "vocabulary": size})
    if "opened" not in opened:
        return real.check(f"{name} opens", False, "opened", opened)
    texts = [text() for _ in range(real.count(200))]
    wrong = [(t, made.encode(t, add_special_tokens=False).ids, tokens({"text": t})) for t in texts]
    wrong = [(t, ids, got) for t, ids, got in wrong if got.get("ids") != ids]
    real.check(f"{name}: ids of {len(texts)} texts", not wrong, *(wrong[0][1:] if wrong else ("", "")), repr(wrong[0][0]) if wrong else "")
    lists = [[dice.randrange(size) for _ in range(dice.randint(0, 12))] for _ in range(real.count(100))]
    wrong = [(ids, made.decode(ids, skip_special_tokens=True), tokens({"ids": ids})) for ids in lists]
    wrong = [(ids, t, got) for ids, t, got in wrong if got.get("text") != t]
    real.check(f"{name}: texts of {len(lists)} lists of ids", not wrong, *(wrong[0][1:] if wrong else ("", "")), str(wrong[0][0]) if wrong else "")


def refused(tokens):
    """Decoders other than ByteLevel, which would make other texts."""
    for name, decoder in {"none": None, "Metaspace": decoders.Metaspace(), "WordPiece": decoders.WordPiece(), "Fuse": decoders.Fuse(), "ByteFallback": decoders.ByteFallback()}.items():
        with real.case(f"decoder {name} is refused"):
            made = Tokenizer(models.BPE())
            made.pre_tokenizer = pre_tokenizers.ByteLevel()
            if decoder is not None:
                made.decoder = decoder
            made.train_from_iterator(kinds.CORPUS, trainers.BpeTrainer(vocab_size=270, special_tokens=kinds.END, show_progress=False))
            os.makedirs(f"decoder{name}")
            made.save(f"decoder{name}/tokenizer.json")
            answer = tokens({"folder": f"decoder{name}", "vocabulary": made.get_vocab_size()})
            real.check(f"decoder {name} is refused", "refused" in answer, "refused, with the decoder's name", answer)


def recorded():
    """What the library makes now of the recorded texts; training, which is not the same twice, is done to record."""
    if real.RECORD:
        kinds.main(str(real.TREE / RECORDED))
    now = json.loads((real.TREE / RECORDED).read_text())
    now["tokenizers"] = tokenizers.__version__
    for each in now.values():
        if isinstance(each, dict):
            made = Tokenizer.from_str(json.dumps(each["tokenizer"]))
            each["texts"] = [[text, made.encode(text, add_special_tokens=False).ids] for text, _ in each["texts"]]
            each["ids"] = [[ids, made.decode(ids, skip_special_tokens=True)] for ids, _ in each["ids"]]
    real.recorded(RECORDED, json.dumps(now, ensure_ascii=False, separators=(",", ":")) + "\n")


recorded()
with real.Probe("TokensProbe") as tokens:
    for name, make in kinds.MADE.items():
        with real.case(name):
            compare(name, make(), tokens)
    for name, made in json.loads((real.TREE / RECORDED).read_text()).items():
        if isinstance(made, dict):
            with real.case(f"recorded {name}"):
                compare(f"recorded {name}", Tokenizer.from_str(json.dumps(made["tokenizer"])), tokens)
    refused(tokens)
