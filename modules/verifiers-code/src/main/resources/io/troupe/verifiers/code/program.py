"""Runs one program and answers the judge's questions about it. Nothing here is trusted: it shares its process with the
program, and holds no test, no expected value and no descriptor but its own."""
import itertools
import os
import sys
import types

MOST_ITEMS = 1_000_000


def run_program(link, output):
    """Never returns. The first message says what to load and how to run it."""
    order = receive(link)
    silence = os.open("/dev/null", os.O_RDWR)
    os.dup2(silence, 2)
    try:
        if "stdin" in order:
            _run_whole(link, output, order)
        else:
            os.dup2(silence, 0)
            os.dup2(silence, 1)
            os.close(output)
            _answer_questions(link, order)
    except Closed:
        pass
    finally:
        os._exit(1)


def _run_whole(link, output, order):
    os.dup2(output, 1)
    os.close(output)
    source = os.open("stdin", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.unlink("stdin")
    data = memoryview(order["stdin"].encode("utf-8", "surrogatepass"))
    while data:
        data = data[os.write(source, data):]
    os.lseek(source, 0, os.SEEK_SET)
    os.dup2(source, 0)
    _reopen_streams()
    status = 0
    try:
        exec(compile(order["source"], "program.py", "exec"), _fresh_module("__main__").__dict__)
    except SystemExit as end:
        code = end.code
        status = 0 if code is None else code if isinstance(code, int) else 1
    except BaseException as failure:
        status = 1
        send(link, {"raised": _describe(failure)})
    try:
        sys.stdout.flush()
    finally:
        os._exit(status & 0xFF)


def _reopen_streams():
    """New ones, because those of the server are set up for its own pipes."""
    sys.stdin = open(0, "r", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="surrogateescape", closefd=False)


def _fresh_module(name):
    module = types.ModuleType(name)
    sys.modules[name] = module
    if name != "__main__":
        sys.modules["__main__"] = module
    return module


def _describe(failure):
    try:
        text = str(failure)[:200]
    except BaseException:
        text = ""
    names = [kind.__name__ for kind in type(failure).__mro__]
    return [names, text.encode("utf-8", "replace").decode("utf-8")]


def _answer_questions(link, order):
    _reopen_streams()
    kept = []
    given = []
    names = {}

    def keep(value):
        kept.append(value)
        return len(kept) - 1

    def value_of(form):
        return decode(form, lambda number: kept[number])

    def load():
        module = _fresh_module("program").__dict__
        module["__builtins__"] = __builtins__
        exec(order["imports"], module)
        names.update(vars=module)
        exec(compile(order["source"], "program.py", "exec"), module)

    def call(target, args, named):
        given[:] = [value_of(form) for form in args]
        keywords = {key: value_of(form) for key, form in named.items()}
        positional = list(given)
        given.extend(keywords.values())
        return kept[target](*positional, **keywords)

    def name(wanted):
        if wanted not in names["vars"]:
            raise NameError("the program has no %s" % wanted)
        return names["vars"][wanted]

    answers = {
        "load": load,
        "name": name,
        "call": call,
        "after": lambda: list(given),
        "text": lambda target: str(kept[target]),
        "shown": lambda target: repr(kept[target]),
        "attribute": lambda target, key: getattr(kept[target], key),
        "assign": lambda target, key, form: setattr(kept[target], key, value_of(form)),
        "item": lambda target, form: kept[target][value_of(form)],
        "truth": lambda target: bool(kept[target]),
        "length": lambda target: len(kept[target]),
        "items": lambda target: list(itertools.islice(iter(kept[target]), MOST_ITEMS)),
    }
    question = ["load"]
    while True:
        try:
            reply = {"value": encode(answers[question[0]](*question[1:]), keep)}
        except BaseException as failure:
            reply = {"raised": _describe(failure)}
        try:
            send(link, reply)
        except ValueError as failure:
            send(link, {"raised": _describe(failure)})
        question = receive(link)
