"""Answers in a box beside gold answers, judged by Troupe and by math-verify; the truth is the table's, or is known by construction."""
import fractions
import json
import logging
import pathlib
import sys

from math_verify import parse, verify

import troupe_real as real

RESOURCES = real.TREE / "modules/verifiers-math/src/test/resources/io/troupe/verifiers/math"
dice = real.dice()
logging.disable(logging.CRITICAL)


def table_of_pairs():
    for line in (RESOURCES / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        verdict, kind, gold, answer = line.split("\t", 3)
        yield kind, gold, answer, verdict == "right"


def written(number):
    """A notation of a fraction."""
    p, q = abs(number.numerator), number.denominator
    sign, factor = "-" if number < 0 else "", dice.randint(1, 4)
    forms = [rf"{sign}\frac{{{p}}}{{{q}}}", rf"{sign}\dfrac{{{p}}}{{{q}}}", f"{sign}{p}/{q}", rf"\frac{{{sign}{p * factor}}}{{{q * factor}}}", rf"{sign}\tfrac{{{p}}}{{{q}}}"]
    if q == 1:
        forms += [f"{sign}{p}", f"{sign}{p}.0", rf"${sign}{p}$", rf"\text{{{sign}{p}}}"]
    if q > 1 and p > q:
        forms.append(rf"{sign}{p // q}\frac{{{p % q}}}{{{q}}}" if p % q else f"{sign}{p // q}")
    if 10**6 % q == 0:
        forms.append(f"{sign}{float(fractions.Fraction(p, q)):.6f}".rstrip("0").rstrip("."))
    return dice.choice(forms)


def fraction():
    return fractions.Fraction(dice.randint(-60, 60), dice.choice([1, 1, 2, 3, 4, 5, 8, 10, 20, 25, dice.randint(1, 40)]))


def random_pairs():
    for _ in range(real.count(300)):
        kind = dice.choice(["number", "number", "tuple", "set", "surd", "interval"])
        a, b, c = fraction(), fraction(), fraction()
        right = dice.random() < 0.5
        other = a if right else a + dice.choice([1, -1, fractions.Fraction(1, 2), fractions.Fraction(1, 7)])
        if kind == "number":
            yield kind, written(a), written(other), right
        elif kind == "tuple":
            yield kind, f"({written(a)}, {written(b)}, {written(c)})", f"({written(other)},{written(b)},{written(c)})", right
        elif kind == "set" and len({a, b, c, other}) == (3 if right else 4):
            shuffled = [other, b, c]
            dice.shuffle(shuffled)
            yield kind, rf"\{{{written(a)}, {written(b)}, {written(c)}\}}", rf"\{{{', '.join(map(written, shuffled))}\}}", right
        elif kind == "surd":
            n, k = dice.choice([2, 3, 5, 6, 7, 10]), dice.randint(2, 9)
            yield kind, rf"{k}\sqrt{{{n}}}", rf"\sqrt{{{k * k * n + (0 if right else dice.randint(1, 3))}}}", right
        elif kind == "interval" and a < b and other < b:
            yield kind, f"({written(a)}, {written(b)}]", f"({written(other)},{written(b)}]", right


def library(gold, answer):
    try:
        return verify(parse(f"\\boxed{{{gold}}}"), parse(f"\\boxed{{{answer}}}"))
    except Exception as failure:  # what it cannot judge, it does not pay
        print(type(failure).__name__, gold, answer, file=sys.stderr)
        return False


def judge(name, pairs):
    rows = [{"id": str(i), "answer": gold, "completion": f"\\boxed{{{answer}}}"} for i, (_, gold, answer, _) in enumerate(pairs)]
    pathlib.Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    real.troupe("verify", "math", "--input", "rows.jsonl", "--output", "verdicts.jsonl", ok=(0, 1))
    verdicts = [json.loads(line) for line in pathlib.Path("verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    theirs = 0
    for (kind, gold, answer, truth), verdict in zip(pairs, verdicts, strict=True):
        other = library(gold, answer)
        theirs += other == truth
        real.check(f"{name}, {kind}: {gold} | {answer}", verdict["passed"] == truth, "paid" if truth else "not paid", verdict.get("reason", verdict), f"math-verify {'pays' if other else 'does not pay'}")
    ours = sum(v["passed"] == truth for v, (_, _, _, truth) in zip(verdicts, pairs))
    print(f"{name}: Troupe is right in {ours} of {len(pairs)}, math-verify in {theirs}", file=sys.stderr)
    real.check(f"{name}: right no less often than math-verify", ours >= theirs, theirs, ours)


for name, pairs in (("table", table_of_pairs), ("random", random_pairs)):
    with real.case(name):
        judge(name, list(pairs()))
