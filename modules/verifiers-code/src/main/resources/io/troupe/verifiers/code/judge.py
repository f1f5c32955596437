"""Runs tests against a program that lives in another process.

The tests run here, in a process that never holds the program's code: a name that the tests do not define is asked for in
the program, its functions are called there, and what they return comes back as plain data. So `==`, `assert` and every
builtin are this interpreter's own, whatever the program did to its own.
"""
import ast
import builtins
import collections
import json
import math
import os

# Errors that a test may tell apart. Those that end an iteration (and GeneratorExit, KeyboardInterrupt and SystemExit, which
# are no Exception) are not among them: map, zip, filter, next and `yield from` would take one for "no more", and a test that
# looks at every item would pass without looking at any.
ERRORS = {name: kind for name, kind in vars(builtins).items()
          if isinstance(kind, type) and issubclass(kind, Exception) and kind not in (StopIteration, StopAsyncIteration)}
# In the tests that define it, an IndexError ends an iteration too.
ITEM_METHOD = "__getitem__"


class Ended(BaseException):
    """The program is gone. Not an Exception, so that no test swallows it."""


class ProgramError(Exception):
    """Raised by the program, of a class that only it knows."""


class BadProblem(Exception):
    """What the tests are made of is broken, whatever the program does."""


def _replace(items, new):
    items[:] = new


def _refill(items, new):
    items.clear()
    items.update(new)


# How the test's own containers become what a program made of its copies.
RENEWED = {list: _replace, bytearray: _replace, dict: _refill, set: _refill, collections.OrderedDict: _refill,
           collections.Counter: _refill, collections.deque: lambda items, new: (items.clear(), items.extend(new))}


class Link:
    """The judge's end of the channel to the program."""

    def __init__(self, channel):
        self.channel = channel
        self.loaded = False
        self.uses = 0
        self.ended = False
        self.errors = ERRORS

    def keep_iterations_whole(self, *texts):
        """Where tests make sequences of their own, no error of the program may be the end of one."""
        if any(ITEM_METHOD in text for text in texts):
            self.errors = {name: kind for name, kind in ERRORS.items() if not issubclass(kind, IndexError)}

    def name(self, wanted):
        """What the program calls so. Naming a function is no use of it yet."""
        before = self.uses
        value = self.ask("name", wanted)
        if type(value) is Remote:
            self.uses = before
        return value

    def ask(self, *question):
        if not self.loaded:
            raise NameError("%s is not defined" % question[1])
        self.uses += 1
        if self.ended:
            raise Ended()
        try:
            send(self.channel, list(question))
            return self.answer()
        except (Closed, OSError):
            self.ended = True
            raise Ended() from None

    def load(self, source, imports):
        """Empty, or why the program cannot be loaded."""
        try:
            send(self.channel, {"source": source, "imports": imports})
            self.loaded = True
            self.answer()
            return None
        except (Closed, OSError):
            self.ended = True
            return "ended"
        except Exception as failure:
            return reason_of(failure)

    def call(self, number, values, named, dropped):
        """What a call returns. A function that returns nothing, or whose result the test drops, works on what it is given:
        then the test's own lists, sets and dicts become what the program made of them. One that returns a value is judged
        by that, and cannot change what the test expects."""
        forms = [self.form(value) for value in values]
        result = self.ask("call", number, forms, {key: self.form(value) for key, value in named.items()})
        given = list(values) + list(named.values())
        if (dropped or result is None) and any(type(value) in RENEWED for value in given):
            try:
                after = self.ask("after")
            except Exception:
                return result
            for value, new in zip(given, after if type(after) is list else []):
                if type(value) in RENEWED and type(new) is type(value):
                    RENEWED[type(value)](value, new)
        return result

    def answer(self):
        """The value of the program's next reply, or the error it raised."""
        reply = receive(self.channel)
        try:
            if "raised" not in reply:
                return decode(reply["value"], lambda number: Remote(self, int(number)))
            names, text = reply["raised"]
            kind = next((self.errors[name] for name in names if name in self.errors), ProgramError)
            shown = "%s: %s" % (str(names[0])[:60], str(text)[:200])
        except Exception as failure:
            raise ProgramError("no plain data: %s" % type(failure).__name__) from None
        try:
            error = kind(shown)
        except TypeError:
            error = ProgramError(shown)
        error.program_text = shown
        raise error

    def form(self, value):
        def number(other):
            if type(other) is Remote:
                return object.__getattribute__(other, "_number")
            raise TypeError("the program cannot be given a %s" % type(other).__name__)
        return encode(value, number)


class Remote:
    """An object of the program. Equal to nothing: whoever compares it fails the test. Whether it is true, the program says;
    tests that ask only that take any true value anyway (a match of a regular expression, in three of MBPP's)."""

    def __init__(self, link, number):
        object.__setattr__(self, "_link", link)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args, **named):
        return self._link.call(self._number, args, named, False)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return self._link.ask("attribute", self._number, key)

    def __setattr__(self, key, value):
        self._link.ask("assign", self._number, key, self._link.form(value))

    def __getitem__(self, key):
        return self._link.ask("item", self._number, self._link.form(key))

    def __len__(self):
        return self._link.ask("length", self._number)

    def __iter__(self):
        return iter(self._link.ask("items", self._number))

    def __bool__(self):
        return self._link.ask("truth", self._number) is True

    def __str__(self):
        return self._link.ask("text", self._number)

    def __repr__(self):
        return self._link.ask("shown", self._number)

    def __format__(self, spec):
        return format(str(self), spec)

    def __eq__(self, other):
        raise TypeError("an object of the program is no value to compare")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None


RUN = "__run__"


def run(function, /, *values, **named):
    """A call whose result the test drops."""
    if type(function) is Remote:
        return function._link.call(function._number, values, named, True)
    return function(*values, **named)


class DroppedResults(ast.NodeTransformer):
    """Marks the calls that are statements. Builtins stay: `exec` looks at who calls it."""

    def visit_Expr(self, node):
        call = node.value
        if not isinstance(call, ast.Call) or (isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)):
            return node
        marked = ast.Call(ast.Name(RUN, ast.Load()), [call.func] + call.args, call.keywords)
        return ast.copy_location(ast.Expr(marked), node)


def compiled(tree, name):
    return compile(ast.fix_missing_locations(DroppedResults().visit(tree)), name, "exec")


class Scope(dict):
    """Names of the tests. What they lack is the program's; builtins are Python's, but for the function under test."""

    def __init__(self, link, subjects):
        super().__init__({"__name__": "tests", RUN: run})
        self.link = link
        self.subjects = subjects

    def __missing__(self, name):
        if (name.startswith("__") or hasattr(builtins, name)) and name not in self.subjects:
            raise KeyError(name)
        return self.link.name(name)


def parse(text, what):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as failure:
        raise BadProblem("%s: %s" % (what, failure)) from None


def subjects_of(trees, entry_point):
    """The function under test may be named like a builtin (MBPP has a `sum`): if the problem says so, or if the tests
    use no name that could be another function of the program."""
    if entry_point:
        return {entry_point}
    loaded = [node.id for tree in trees for node in ast.walk(tree)
              if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    if any(not hasattr(builtins, name) for name in loaded):
        return set()
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {call.func.id for call in calls[:1] if isinstance(call.func, ast.Name)}


def imports_of(tree):
    """Set-up code belongs to the tests; only its imports are the program's too."""
    lines = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "\n".join(ast.unparse(node) for node in lines)


def reason_of(failure):
    text = getattr(failure, "program_text", None)
    if text is not None:
        return text
    if isinstance(failure, AssertionError):
        return "another result"
    try:
        return "%s: %s" % (type(failure).__name__, str(failure)[:200])
    except BaseException:  # the text of an error may hold an object of the program
        return type(failure).__name__


def attempt(link, action):
    """One test: [passed, reason]. A test that never asks the program anything judges nothing."""
    before = link.uses
    try:
        action()
        result = [not link.ended, "" if not link.ended else "ended"]
    except Ended:
        result = [False, "ended"]
    except BadProblem:
        raise
    except BaseException as failure:
        result = [False, reason_of(failure)]
    if link.uses == before:
        raise BadProblem("a test that does not use the program")
    return result


def judge_asserts(link, job):
    if not job["tests"]:
        raise BadProblem("no tests")
    link.keep_iterations_whole(job["setup"], *job["tests"])
    setup = parse(job["setup"], "the set-up")
    trees = [parse(test, "test %d" % (i + 1)) for i, test in enumerate(job["tests"])]
    scope = Scope(link, subjects_of([setup] + trees, job["entry_point"]))
    imports = imports_of(setup)
    try:
        exec(imports, {})
    except Exception as failure:
        raise BadProblem("the set-up fails: " + reason_of(failure)) from None
    trouble = link.load(job["source"], imports)
    if trouble:
        return [[False, trouble]] * len(trees)
    try:
        exec(compiled(setup, "setup"), scope)
    except BaseException as failure:
        if not link.uses:
            raise BadProblem("the set-up fails: " + reason_of(failure)) from None
        return [[False, "ended" if isinstance(failure, Ended) else reason_of(failure)]] * len(trees)
    return [attempt(link, lambda: run_test(scope, tree, job["entry_point"])) for tree in trees]


def run_test(scope, tree, entry_point):
    """A test that only defines `check`, as HumanEval's do, is called with the function under test."""
    exec(compiled(tree, "test"), scope)
    last = tree.body[-1] if tree.body else None
    if entry_point and isinstance(last, ast.FunctionDef) and last.name == "check":
        scope["check"](scope.link.name(entry_point))


def judge_check(link, job):
    link.keep_iterations_whole(job["prompt"], job["test"])
    prompt = parse(job["prompt"], "the prompt")
    test = parse(job["test"], "the test")
    scope = Scope(link, {job["entry_point"]})
    try:
        exec(compiled(prompt, "prompt"), scope)
        exec(compiled(test, "test"), scope)
    except BaseException as failure:
        raise BadProblem("the test fails by itself: " + reason_of(failure)) from None
    if not callable(scope.get("check")):
        raise BadProblem("the test defines no check(candidate)")
    scope.pop(job["entry_point"], None)
    trouble = link.load(job["source"], "")
    if trouble:
        return [[False, trouble]]
    return [attempt(link, lambda: scope["check"](link.name(job["entry_point"])))]


def judge_calls(link, job):
    if not job["cases"]:
        raise BadProblem("no tests")
    trouble = link.load(job["source"], "from typing import *")
    if trouble:
        return [[False, trouble]] * len(job["cases"])
    holder = []

    def function():
        if not holder:
            try:
                holder.append(getattr(link.name("Solution")(), job["function"]))
            except NameError:
                holder.append(link.name(job["function"]))
        return holder[0]

    def run(case):
        actual = function()(*[with_number_keys(value) for value in case["arguments"]])
        assert agree(actual, case["expected"]) or (
            isinstance(case["expected"], list) and len(case["expected"]) == 1 and agree(actual, case["expected"][0]))
    return [attempt(link, lambda: run(case)) for case in job["cases"]]


def with_number_keys(value):
    """JSON has only text for keys; where all are numbers, numbers were meant."""
    if isinstance(value, dict) and value and all(key.lstrip("-").isdecimal() for key in value):
        return {int(key): item for key, item in value.items()}
    return value


def agree(actual, expected):
    """Equality as APPS means it: tuples are lists, floats are near, keys are text."""
    if isinstance(expected, list):
        return isinstance(actual, (list, tuple)) and len(actual) == len(expected) and all(map(agree, actual, expected))
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return False
        named = {str(key): value for key, value in actual.items()}
        return named.keys() == expected.keys() and all(agree(named[key], expected[key]) for key in expected)
    if isinstance(expected, float) or isinstance(actual, float):
        return isinstance(actual, (int, float)) and isinstance(expected, (int, float)) \
            and math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-6)
    return actual == expected


def read_output(link, job, output):
    """Runs a whole program and returns what it wrote: [text, whether it wrote more than may be]."""
    send(link.channel, {"source": job["source"], "stdin": job["stdin"]})
    parts, size = [], 0
    while size <= job["most_output"]:
        part = os.read(output, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
    raised = ""
    if size <= job["most_output"]:
        try:
            raised = str(receive(link.channel)["raised"][0][0])[:60]
        except Exception:
            pass
    text = b"".join(parts)[:job["most_output"]].decode("utf-8", "replace")
    return {"output": text, "flood": size > job["most_output"], "raised": raised}


def judge(job, channel, output):
    """The report on a job, as JSON."""
    kinds = {"asserts": judge_asserts, "check": judge_check, "calls": judge_calls}
    link = Link(channel)
    try:
        if job["kind"] == "run":
            report = read_output(link, job, output)
        else:
            os.close(output)
            report = {"tests": kinds[job["kind"]](link, job), "ended": link.ended}
    except BadProblem as failure:
        report = {"bad": str(failure)[:300]}
    return json.dumps(report)
