#!/usr/bin/env python3
"""Writes what Python's re, json, ast, csv and str make of random input, as a golden file.

  python3 src/test/python/python_semantics.py > GOLDEN
"""
import ast
import csv
import io
import json
import random
import re

RNG = random.Random(20261121)
ATOMS = ["a", "b", "ab", "é", "S", ".", r"\w", r"\s", r"\d", r"\W", r"\b", "[ab]", "[^a]", "[a-c]", r"[\w.]",
         "(a|b)", "(?:ab)", "(a(b)?)", "^", "$", r"\.", r"\*", "-", ",", "{", "a{2}", "b{1,2}", "[]a]", "(", ")",
         "|", "#", "😀", r"\x41", "[", "K"]
REPEATS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "**"]
TEXT = ["a", "b", "c", "A", "B", "é", "É", "s", "ſ", "K", "k", ".", "*", "-", ",", " ", "\n", "\r", "\u2028", "\x1c",
        "\u00a0", "1", "٣", "²", "_", "#", "{", "😀", "ab", "aab"]
VALUES = ["1", "-0.5e3", "01", "1.", ".5", "+1", "NaN", "-Infinity", "null", "None", "true", "True", '"a"', "'a'",
          '"\\u00e9\\n"', "'it\\'s'", '"\\q"', "'\\x41\\101'", '"a\tb"', "'''a\nb'''", "'a' \"b\"", '"\\ud83d\\ude00"',
          "", "[]", "{}", "()", '"\\/"', "1" * 5, "\ufeff1", "nul", "{1}"]


def pick(choices, most):
    return "".join(RNG.choice(choices) for _ in range(RNG.randint(0, most)))


def patterns():
    for _ in range(4000):
        pattern = "".join(
            RNG.choice(ATOMS) + RNG.choice(REPEATS) for _ in range(RNG.randint(1, 4))
        )
        text = pick(TEXT, 14)
        flags = RNG.choice([0, re.IGNORECASE, re.MULTILINE])
        try:
            compiled = re.compile(pattern, flags)
        except re.error:
            yield {"kind": "pattern", "pattern": pattern, "flags": int(flags), "text": text, "found": None}
            continue
        spans = [m.span() for m in compiled.finditer(text)]
        if any(a == b for a, b in spans):
            spans = spans[:1]  # What follows an empty match is not promised.
        yield {"kind": "pattern", "pattern": pattern, "flags": int(flags), "text": text,
               "found": [text[a:b] for a, b in spans]}


def value(depth):
    if depth == 0 or RNG.random() < 0.5:
        return RNG.choice(VALUES)
    inner = [value(depth - 1) for _ in range(RNG.randint(0, 3))]
    tail = RNG.choice(["", "", "", ",", " "])
    if RNG.random() < 0.5:
        return "[" + ", ".join(inner) + tail + "]"
    return "{" + ",\n".join(RNG.choice(['"k"', "'k'", '"j"', "1"]) + ": " + v for v in inner) + tail + "}"


def plain(found):
    if isinstance(found, (list, tuple)):
        return [plain(v) for v in found]
    if isinstance(found, set):
        return [plain(v) for v in sorted(found)]
    if isinstance(found, dict):
        return {str(k): plain(v) for k, v in found.items()}
    return str(found) if isinstance(found, float) else found


def readers():
    for _ in range(2000):
        text = RNG.choice(["", "", " ", "\n"]) + value(3) + RNG.choice(["", "", " ", "\u00a0", "x"])
        line = {"kind": "reader", "text": text}
        for name, reader in [("json", json.loads), ("literal", lambda t: ast.literal_eval(t.strip()))]:
            try:
                reader(text)
                line[name] = True
            except (ValueError, SyntaxError, TypeError, MemoryError):
                line[name] = False
        yield line


def tables():
    pieces = ["a", "b", ",", "\t", '"', '""', "\n", "\r\n", " ", "é", '"a,b"', '"a\nb"']
    for _ in range(1000):
        text = pick(pieces, 12)
        delimiter = RNG.choice([",", "\t"])
        yield {"kind": "csv", "text": text, "delimiter": delimiter,
               "rows": list(csv.reader(io.StringIO(text), delimiter=delimiter))}


def strings():
    pieces = TEXT + ["ß", "ǅ", "İ", "ª", "Ⅷ", "ⓐ", "\u0301", "\u200b", "\u3000", "\x85", "\x1f", "\u180e", "日"]
    for _ in range(1000):
        text = pick(pieces, 8)
        yield {"kind": "text", "text": text, "lower": text.lower(), "upper": text.upper(), "strip": text.strip(),
               "split": text.split(), "isupper": text.isupper(), "islower": text.islower(),
               "words": re.findall(r"\w+", text), "length": len(text)}


if __name__ == "__main__":
    for kind in (patterns, readers, tables, strings):
        for line in kind():
            print(json.dumps(line))
