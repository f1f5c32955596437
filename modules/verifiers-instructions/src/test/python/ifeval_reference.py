#!/usr/bin/env python3
"""Writes what the reference checkers of IFEval say of random answers, as a golden file.

The checkers are those of lm-evaluation-harness 0.4.13 (MIT; `pip download --no-deps lm_eval`, unzip).
They run with our sentence splitter's parameters, as NLTK's are no part of this repository. The three
instructions that detect languages are left out, and letters the checkers replace by random ones.

  python3 src/test/python/ifeval_reference.py UNZIPPED MODEL IFEVAL.jsonl GOLDEN.jsonl.gz
"""
import gzip
import importlib.metadata
import json
import random
import sys
import types

import nltk
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

import punkt_model

LEFT_OUT = {"language:response_language", "change_case:english_capital", "change_case:english_lowercase"}
PIECES = [
    "* ", "- ", "**bold**", "*it*", "***", "\n***\n", "\n\n", "\n", "******", "<<Title>>", "<< >>",
    "Section 1", "SECTION 2 ", "[name]", "[a b]", "P.S. bye", "P.P.S. x", "p. s. ", "My answer is yes.",
    '"', ",", '{"a": 1}', '```json\n{"a": NaN}\n```', "HELLO WORLD", "I AM", "Dr. Who went. ", "Yes! ",
    "No? ", "word ", "The end", "  ", "\u00a0", "Is there anything else I can help with?", "\u2028",
    "\x1c", "é", "A.B. ", "e.g. ", "1. ", "Paragraph 3", "the", "\r\n", "😀",
]
WHOLE = ['{"a": [1, 2.5e3, null]}', '```json\n[]\n```', "```\n1\n```", '"quoted"', '"a"\n\n"b"', "[1,]", "NaN"]


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def reference(folder, model):
    """Imports the checkers alone, with stand-ins for what they import and do not need here."""
    splitter, words = PunktSentenceTokenizer(punkt_model.model(model)), NLTKWordTokenizer()
    nltk.word_tokenize = lambda text: [w for s in splitter.tokenize(text) for w in words.tokenize(s)]
    nltk.data.find = lambda *_: True
    nltk.data.load = lambda *_: splitter
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: "3.9.9" if name == "nltk" else version(name)
    module("immutabledict", immutabledict=dict)
    module("langdetect", LangDetectException=ValueError)
    module("packaging")
    module("packaging.version", parse=lambda text: tuple(int(n) for n in text.split(".")))
    for name in ["lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"]:
        module(name, __path__=[folder + "/" + name.replace(".", "/")])
    from lm_eval.tasks.ifeval import utils
    return utils


def answer(rng, rows, row, pairs):
    if rng.random() < 0.05:
        return rng.choice(WHOLE)
    kind = rng.randrange(4)
    base = row["prompt"] if kind == 0 else rng.choice(rows)["prompt"]
    if kind < 2:
        return base[: rng.randrange(50, 900)] if kind else base
    pieces = list(PIECES)
    for _, kwargs in pairs:
        for value in kwargs.values():
            if isinstance(value, list):
                pieces += value * 4
            elif isinstance(value, str) and len(value) < 60:
                pieces += [value] * 6
    text = "".join(
        rng.choice(pieces) + rng.choice(["", " ", "\n"]) for _ in range(rng.randrange(1, 40))
    )
    text = base[: rng.randrange(0, 400)] + text if kind == 3 else text
    return '"' + text + '"' if rng.random() < 0.1 else text


def arguments(rng, kwargs):
    return {
        key: rng.randint(1, 4) if isinstance(value, int) and rng.random() < 0.5 else value
        for key, value in kwargs.items()
    }


def main(folder, model, prompts, golden):
    utils = reference(folder, model)
    rng = random.Random(7)
    rows = punkt_model.lines(prompts)
    with gzip.GzipFile(golden, "wb", 9, mtime=0) as file:
        for row in rows + rows:
            pairs = [
                (name, arguments(rng, kwargs))
                for name, kwargs in zip(row["instruction_id_list"], row["kwargs"])
                if name not in LEFT_OUT and kwargs.get("letter", "a").isalpha()
            ]
            pairs = [(n, k) for n, k in pairs if k.get("nth_paragraph", 0) <= k.get("num_paragraphs", 9)]
            if not pairs:
                continue
            text = answer(rng, rows, row, pairs)
            names = [name for name, _ in pairs]
            task = utils.InputExample(0, names, row["prompt"], [dict(k) for _, k in pairs])
            line = {
                "instruction_id_list": names,
                "kwargs": [kwargs for _, kwargs in pairs],
                "completion": text,
                "strict": utils.test_instruction_following_strict(task, text).follow_instruction_list,
                "loose": utils.test_instruction_following_loose(task, text).follow_instruction_list,
            }
            file.write((json.dumps(line) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
