#!/usr/bin/env python3
"""Trains the sentence splitter's parameters, and writes what NLTK makes of texts with them.

Needs NLTK 3.8 (Debian: python3-nltk); no NLTK data. Run from modules/verifiers-instructions:
  python3 src/test/python/punkt_model.py train GSM8K_TRAIN.jsonl.gz IFEVAL.jsonl IFBENCH.jsonl > MODEL
  python3 src/test/python/punkt_model.py golden MODEL IFEVAL.jsonl IFBENCH.jsonl > GOLDEN
"""
import gzip
import json
import random
import sys

from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, PunktTrainer

# Abbreviations of everyday English, which the training text is too small to teach.
ABBREVIATIONS = """
mr mrs ms dr prof rev hon st sr jr messrs gen col maj capt cmdr lt sgt cpl gov sen rep pres supt
inc ltd co corp bros dept univ assn intl mfg etc vs al ca cf approx fig figs no nos vol vols pp
ed eds ch sec para jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri
a.m p.m e.g i.e u.s u.k u.n u.s.a d.c ph.d m.d b.a m.a b.s m.s ph j.d r.n p.o n.y l.a b.c a.d
ave blvd rd hwy ft mt oz lb lbs qt hr hrs min tel ext
""".split()


def lines(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def texts(path):
    for row in lines(path):
        if "question" in row:
            yield row["question"]
        else:
            yield row["prompt"]


def train(paths):
    trainer = PunktTrainer()
    trainer.INCLUDE_ALL_COLLOCS = False
    for path in paths:
        trainer.train("\n\n".join(texts(path)), finalize=False)
    trainer.finalize_training()
    params = trainer.get_params()
    # What so small a text takes for abbreviations are mostly ends of short lists.
    params.abbrev_types = set(ABBREVIATIONS)
    print("# Punkt parameters (T. Kiss and J. Strunk, 2006). Made by src/test/python/punkt_model.py.")
    for abbreviation in sorted(params.abbrev_types):
        print("A", abbreviation, sep="\t")
    for first, second in sorted(params.collocations):
        print("C", first, second, sep="\t")
    for starter in sorted(params.sent_starters):
        print("S", starter, sep="\t")
    for word, flags in sorted(params.ortho_context.items()):
        if flags and word.isprintable() and "\t" not in word:
            print("O", word, flags, sep="\t")


def model(path):
    params = PunktParameters()
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "A":
                params.abbrev_types.add(fields[1])
            elif fields[0] == "C":
                params.collocations.add((fields[1], fields[2]))
            elif fields[0] == "S":
                params.sent_starters.add(fields[1])
            elif fields[0] == "O":
                params.ortho_context[fields[1]] = int(fields[2])
    return params


PIECES = [
    ".", "..", "...", ". . .", "!", "?", "?!", ")", "(", '"', "''", "``", "'", "’", "“", "”", "[", "]",
    "--", "-", ",", ":", ";", "*", "**", "#", "$", "%", "&", "@", " ", "  ", "\n", "\n\n", "\t",
    "\r\n", "\u00a0", "\u2028", "Mr.", "Dr.", "e.g.", "U.S.", "J.", "K", "3.", "3.14", "1,000", "Hello",
    "hello", "THE", "The", "He", "she's", "don't", "can't", "CANNOT", "cannot", "gonna", "wanna",
    "'tis", "'twas", "more'n", "d'ye", "lemme", "we'll", "they've", "it's.", "End.", "end.)", "end.\"",
    "日本語。", "é", "É.", "ß", "😀", "\ud7ff", "_", "a_b", "²", "x.y.z", "no.", "No.", "etc.", "I", "'s",
    "ok'", "http://a.b/c.", "<b>", "{x}", "`q`", "«a»", "…",
]


def golden(params, paths):
    rng = random.Random(20261121)
    splitter = PunktSentenceTokenizer(params)
    words = NLTKWordTokenizer()
    samples = []
    for path in paths:
        samples += [t for t in texts(path) if len(t) < 1000]
    for _ in range(1500):
        joint = rng.choice(["", " ", " "])
        samples.append(joint.join(rng.choice(PIECES) for _ in range(rng.randint(1, 25))))
    for text in samples:
        sentences = splitter.tokenize(text)
        tokens = [token for sentence in sentences for token in words.tokenize(sentence)]
        print(json.dumps({"text": text, "sentences": sentences, "tokens": tokens}))


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2:])
    else:
        golden(model(sys.argv[2]), sys.argv[3:])
