"""What the drivers of counterparts share: cases on standard output, Troupe's commands, recorded answers.

Importing it changes into the scratch folder, and sends whatever else is printed to standard error.
"""
import argparse
import contextlib
import decimal
import difflib
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import traceback

TREE = pathlib.Path(os.environ["TROUPE_TREE"])
SCRATCH = pathlib.Path(os.environ["TROUPE_SCRATCH"])
RECORD = bool(os.environ["TROUPE_RECORD"])

_COMMAND = json.loads(os.environ["TROUPE_COMMAND"])
_PROBE = json.loads(os.environ["TROUPE_PROBE"])
_SECONDS = 300

_parser = argparse.ArgumentParser()
_parser.add_argument("--seed", type=int, default=1)
_parser.add_argument("--cases", type=int, default=0)
OPTIONS = _parser.parse_args()

os.chdir(SCRATCH)
_out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def dice():
    """Random numbers of the seed that the user gave."""
    return random.Random(OPTIONS.seed)


def count(usual):
    """The number of random cases: the user's, or the usual one."""
    return OPTIONS.cases or usual


def _tell(line):
    print(json.dumps(line, ensure_ascii=False, default=str), file=_out, flush=True)


def check(name, ok, expected="", got="", why=""):
    """Reports a case that holds or not, with the values only where it does not."""
    line = {"case": name, "ok": bool(ok)}
    if not ok:
        line |= {"expected": expected, "got": got, "why": why}
    _tell(line)


def equal(name, expected, got, why=""):
    check(name, expected == got, expected, got, why)


def skip(name, why):
    """Tells a case that cannot be tried here."""
    _tell({"case": name, "skipped": True, "why": why})


@contextlib.contextmanager
def case(name, expected="no error"):
    """An exception within is a failed case of this name."""
    try:
        yield
    except Exception as failure:  # the next cases are tried whatever happened in this one
        traceback.print_exc()
        check(name, False, expected, f"{type(failure).__name__}: {failure}")


def _text(file):
    if not file.exists():
        return ""
    raw = file.read_bytes()
    return (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8")


def recorded(path, made):
    """Compares an answer of the real program, a file or a text, with the recorded one, or records it.

    The path is that of a file below the work tree, which the tests of its module replay.
    """
    file = TREE / path
    if RECORD and isinstance(made, pathlib.Path):
        shutil.copy(made, file)
    elif RECORD:
        file.write_text(made, encoding="utf-8")
    old, now = _text(file), _text(made) if isinstance(made, pathlib.Path) else made
    lines = [text.replace("},{", "},\n{").splitlines() for text in (old, now)]
    diff = difflib.unified_diff(*lines, "recorded", "now", lineterm="", n=0) if old != now else ()
    check(f"recorded {file.name}", old == now, f"what {path} holds", "\n".join(line[:200] for line in itertools.islice(diff, 20)))


def troupe(*words, text=None, ok=(0,), seconds=_SECONDS):
    """Runs a command of Troupe to its end; another exit code than those of `ok` is an error."""
    done = subprocess.run(
        [*_COMMAND, *map(str, words)], input=text, capture_output=True, text=True, encoding="utf-8", timeout=seconds
    )
    if done.returncode not in ok:
        raise AssertionError(f"troupe {' '.join(map(str, words))} ended with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done


@contextlib.contextmanager
def serving(*words, log="serve.log"):
    """Runs `troupe serve` on a free port of loopback, and yields its address."""
    with open(log, "w", encoding="utf-8") as file:
        server = subprocess.Popen(
            [*_COMMAND, "serve", *map(str, words), "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, text=True
        )
    try:
        for line in server.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                yield found.group()
                return
        raise AssertionError(f"troupe serve ended with {server.wait()}: {pathlib.Path(log).read_text()[-2000:]}")
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


class Probe:
    """One JVM that answers a line of JSON for each one: a class of the package io.troupe.real.probe.

    Numbers with a point or an exponent come as decimals, with all their digits.
    """

    def __init__(self, name, *words):
        command = [*_PROBE, os.environ["TROUPE_PROBE_PACKAGE"] + name, *map(str, words)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def __call__(self, question):
        print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the probe ended with {self._process.wait()}")
        return json.loads(line, parse_float=decimal.Decimal)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(30)
