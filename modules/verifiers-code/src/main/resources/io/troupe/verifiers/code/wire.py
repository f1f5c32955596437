"""How values travel between the judge and a program: frames of JSON, in which only values of Python's own types exist.

Whatever a program sends is read as data. What is not such a value stays in the program, and the other side gets a
handle: a number. No pickle, no marshal: both execute or trust what they read.
"""
import builtins
import collections
import datetime
import decimal
import fractions
import json
import struct

LARGEST_FRAME = 32 << 20


class Closed(Exception):
    """The other side is gone, or writes what no honest one does."""


def send(channel, message):
    data = json.dumps(message).encode("ascii")
    if len(data) > LARGEST_FRAME:
        raise ValueError("a value of more than %d MB" % (LARGEST_FRAME >> 20))
    channel.sendall(struct.pack(">I", len(data)) + data)


def receive_exactly(channel, size):
    parts = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            raise Closed()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive(channel):
    size, = struct.unpack(">I", receive_exactly(channel, 4))
    if size > LARGEST_FRAME:
        raise Closed()
    return json.loads(receive_exactly(channel, size))


def encode(value, handle):
    """The value as JSON; handle(value) stands for what has no form of its own."""
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or value is True or value is False else str(value)
    if isinstance(value, int):
        value = int(value)
        return value if -(1 << 53) < value < (1 << 53) else ["int", hex(value)]
    if isinstance(value, float):
        return float(value)
    many = _sequence_kind(value)
    if many:
        return [many] + [encode(item, handle) for item in value]
    if isinstance(value, dict):
        kind = "counter" if isinstance(value, collections.Counter) else (
            "ordered" if isinstance(value, collections.OrderedDict) else "dict")
        return [kind] + [[encode(key, handle), encode(item, handle)] for key, item in value.items()]
    single = _single_form(value)
    return single if single else ["handle", handle(value)]


def _sequence_kind(value):
    for kind in (list, tuple, set, frozenset, collections.deque):
        if isinstance(value, kind):
            return kind.__name__
    return None


def _single_form(value):
    if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
        return ["type", value.__name__]
    if type(value) in (bytes, bytearray):
        return [type(value).__name__, value.hex()]
    if type(value) is complex:
        return ["complex", value.real, value.imag]
    if type(value) is range:
        return ["range", hex(value.start), hex(value.stop), hex(value.step)]
    if type(value) is fractions.Fraction:
        return ["fraction", hex(value.numerator), hex(value.denominator)]
    if type(value) is decimal.Decimal:
        return ["decimal", str(value)]
    if type(value) in (datetime.datetime, datetime.date, datetime.time):
        return [type(value).__name__, value.isoformat()]
    if type(value) is datetime.timedelta:
        return ["timedelta", value.days, value.seconds, value.microseconds]
    return None


def _builtin_type(name):
    kind = vars(builtins)[name]
    if not isinstance(kind, type):
        raise ValueError("no type")
    return kind


def decode(form, handle):
    """The value of a form; handle(number) stands for one that stayed on the other side. Raises on any other form."""
    if not isinstance(form, list):
        if isinstance(form, dict):
            raise ValueError("no form of a value")
        return form
    kind, rest = form[0], form[1:]
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](decode(item, handle) for item in rest)
    if kind in _MAPPINGS:
        return _MAPPINGS[kind]((decode(key, handle), decode(item, handle)) for key, item in rest)
    if kind == "handle":
        return handle(*rest)
    return _SINGLES[kind](*rest)


_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "deque": collections.deque}
_MAPPINGS = {
    "dict": dict,
    "ordered": collections.OrderedDict,
    "counter": lambda pairs: collections.Counter(dict(pairs)),
}
_SINGLES = {
    "type": _builtin_type,
    "int": lambda digits: int(digits, 16),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": complex,
    "range": lambda *bounds: range(*(int(bound, 16) for bound in bounds)),
    "fraction": lambda n, d: fractions.Fraction(int(n, 16), int(d, 16)),
    "decimal": decimal.Decimal,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": datetime.timedelta,
}
