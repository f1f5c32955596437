"""Writes, or with --check compares, what Python's jinja2 makes of expressions and statements.

    python3 template_expressions.py [--check]

The environment is the one of transformers' apply_chat_template, taken from transformers itself (5.17.0, with
jinja2 3.1.6). The table has expressions that chat templates use, and random ones of the same parts. The
result is expressions.json, which TemplateExpressionsTest reads; a case without "text" is one that Python refuses.
"""

import copy
import json
import pathlib
import random
import sys
import warnings

import jinja2
from transformers.utils.chat_template_utils import _compile_jinja_template

warnings.simplefilter("ignore", SyntaxWarning)
FILE = pathlib.Path(__file__).resolve().parents[1] / "resources/io/troupe/chat/expressions/expressions.json"
VALUES = {
    "s": "Hello, wörld it's\na-b (c)", "e": "", "n": None, "i": 7, "f": 2.5, "t": True, "big": 12345678.9,
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "d": {"b": 1, "A": 2, "c": None}, "small": 1e-05, "long": 10 ** 20,
    "msgs": [{"role": "user", "content": "hi", "k": 2}, {"role": "assistant", "content": None, "k": 1}],
    "nums": ["3.7", " 5 ", "x", "0x1f"], "lines": "a\r\nb\x0bc\u2028d\n", "blank": "\u00a0\u2007 x\u202f\u0085\x1c",
    "js": {"x": 'é"\\\u2028</\x1b', "y": [1.0, 2, None, True, 1e22, -0.0], "z": {}}, "empty": [], "em": {},
}

KNOWN = r"""
s|title
s.title()
s|capitalize
ls|sort
ls|sort(case_sensitive=true)
ls|sort(true)
l|sort(reverse=true)
msgs|sort(attribute='k')|map(attribute='role')|list
msgs|sort(attribute='role,k')|length
d|dictsort
d|dictsort(true)
d|dictsort(by='value')
d|dictsort(reverse=true)
['a','A','a']|unique|list
['a','A','a']|unique(true)|list
[1, true, 1.0, 'x']|unique|list
nums[0]|int
nums[1]|int
nums[2]|int
nums[2]|int(9)
nums[3]|int(base=16)
nums[3]|int(0, 0)
'1e3'|int
'abc'|float
'abc'|float(1)
' 1_0.5 '|float
f|int
f|round
2.567|round(2)
2.5|round(0, 'ceil')
2.55|round(1, method='floor')
7|round
1234|round(-2)
l|max
ls|min
msgs|max(attribute='k')
[]|max
l|sum
[0.1, 0.2, 0.3, 0.4, 1e16]|sum
msgs|sum(attribute='k', start=10)
s|wordcount
l|join(', ')
msgs|join(',', attribute='role')
l|join(d='-')
s|reverse
l|reverse|list
l|reverse
s|replace('l','L')
s|replace('l','L',1)
s|replace('l', 'L', count=2)
s.replace('l','L',1)
s.replace('', '-', 3)
s.replace('l', 'L', count=1)
s.split()
s.split(' ',1)
s.split(maxsplit=1)
s.split('o', maxsplit=1)
s.rsplit(' ',1)
s.rsplit(maxsplit=1)
s.partition(' ')
s.rpartition('x')
s.find('o')
s.find('o',6)
s.find('o', 5, -20)
s.rfind('l')
s.index('o')
s.index('zz')
s.count('l')
s.count('')
s.startswith(('x','H'))
s.startswith(['x'])
s.startswith('e', 1)
s.endswith('x')
s.strip('H')
blank.strip()
blank|trim
s|trim('Hc')
s.removeprefix('He')
s.removesuffix(')')
s.isalpha()
'a1'.isalnum()
'¼²'.isdigit()
'²'.isdigit()
'¼'.isnumeric()
s.zfill(30)
'-5'.zfill(4)
lines.splitlines()
lines.splitlines(true)
lines|indent
s|indent(2,true)
s|indent(width='> ', first=true)
s.center(30)
'ab'.center(5, '*')
s|center(30)
s.ljust(25, '.')
s.rjust(25)
'a\tb'.expandtabs(4)
n|trim
n|string
n|default('d')
n|default('d', true)
u|default(boolean=true)
u is iterable
u is sequence
u is callable
l is sequence
d.items() is sequence
range(3) is sequence
1 is sameas true
t is sameas t
l is sameas l
n is sameas none
i is divisibleby 7
i is ge 7
i is ==(7)
s is upper
'ABC1' is upper
'x' is in ['x']
i is odd(1)
n is none(1)
2 ** -1
2 ** 70
7.5 // 2
-7.5 % 2
-7 // 2
7 / 2
long + 1
long * 1.0
1e3
1_000
0x10
0b101
.5
3.
1e16
1e15 + 0.5
123456789012345680.0
1e-05
0.0001
1/3
5e-324
-0.0
1.0
100000.0
big
long
s[::-1]
l[-2:]
l[5]
l[true]
range(10)[2]
range(1,7,2)
range(3)|list
(1,2)
(1,)
()
1, 2
(1, 2) + (3,)
(1, 2) == [1, 2]
[1, 2] < [1, 3]
'é' > 'z'
'\U0001F600' > '\uffff'
1 == true
1 < 2 < 3
'b' in d
1 in 'abc'
[] in d
d.items()
d.keys()
d.values()
d.x
d['items']()
d.get('x', 5)
d.get('x', default=5)
d.pop('b')
d.update({'q': 1})
l.append(4)
l.index(1)
l.index(1, 2)
l.count(1)
d|items|list
js
js|tojson
js|tojson(indent=2)
js|tojson(2)
js|tojson(true)
js|tojson(ensure_ascii=true)
js|tojson(sort_keys=true)
js|tojson(separators=(',',':'))
{1: 2, none: 3, true: 4, 1.5: 5}|tojson
{1: 'a', true: 'b'}
(1, 2)|tojson
range(3)|tojson
u|tojson
1e400|tojson
(1e400 - 1e400)|tojson
'é\x7f\x1b\u2028'|tojson(ensure_ascii=true)
dict(b=2, a=1, z=3, y=4)|tojson
dict(d, z=1)
dict([('a', 1), ('b', 2)])
dict(d, [])
namespace(a=1)
namespace({'a': 1}, b=2).b
'%s-%d' % ('a', 1)
'%05.2f|%+d|%-5s|%5s|%%|%x|%X|%o|%e|%g|%r' % (3.14159, 5, 'a', 'b', 255, 255, 8, 12345.678, 0.00001, 'q')
'%(a)s %(b)d' % {'a': 1, 'b': 2}
'%s' % [1, 2]
'%d' % 'a'
'%s %s' % 'a'
'{} {}'.format(1, 2)
'{0} {1} {0}'.format('a', 'b')
'{a.b[0]} {c!r:>6}'.format(a={'b': [1]}, c='x')
'{:>8} {:<8} {:^8} {:08.3f} {:,} {:.1%} {:x} {:+d}'.format('a', 'b', 'c', 3.14159, 1234567, 0.25, 255, 5)
'{:*^9}'.format('mid')
'%s, %s!'|format('Hello', 'you')
'%(a)s'|format(a=5)
l|batch(2)|list
l|batch(2, 0)|list
l|slice(2)|list
l|slice(2, 'x')|list
l|map('string')|join('-')
ls|map('replace', 'a', 'z')|list
ls|map('upper')
msgs|map(attribute='x', default='d')|list
msgs|map(attribute='content.y')|list
msgs|map(attribute='k', other=1)|list
msgs|selectattr('role', 'equalto', 'user')|list|length
msgs|selectattr('content')|list|length
msgs|selectattr('content')|length
msgs|rejectattr('role', 'eq', 'user')|map(attribute='role')|join
(msgs|selectattr('x', 'defined')) and 'yes'
l|select('odd')|list
l|select|list
l|reject('gt', 1)|first
l|first
''|last
d|last
s|safe
s|escape
'<'|e ~ '&'
'<'|safe + '&'
n|upper
u|length
u|list
u.x
n.x
i.real
s.encode('utf8')
u + 1
u|int
n|int
n|int(5)
[1]|int(3)
'a' ~ 1 ~ none ~ 1.0
'a' * 3
3 * [1]
'a' * -1
-t
+t
-'a'
'ß'.upper()
'ß'.capitalize()
'ΑΣ'.lower()
'ΑΣ Σ'.title()
'ǆ'.title()
'\x41\u00e9\101\q\
x'
'\N{DASH}'
'a' 'b'
"it's"
'a"b'
["it's", 'a"b', "it's \"x\"", 'a\\b', '\x00\x1f\x7f\u200b\u2028é\U0001F600\ue000']
none
[none, true, 1.5]
'a' if false
('a' if false).x
true and 'x'
0 or [] or 'z'
not s is string
s is string and i is number
(l|length)-1
-1|abs
1 if
s.upper(1)
s|upper(1)
s|length(1)
l|first(1)
range()
range(1, 2, 0)
range(200000)
raise_exception('no')
raise_exception()
strftime_now('%Y', '%m')
x(
1 is
1 = 2
1 2
s.
""".strip("\n").split("\n")

STATEMENTS = [
    "{% with x = 5, y = 2 %}{{ x }}{{ y }}{% endwith %}{{ x }}", "{% with %}a{% endwith %}",
    "{% set x = 1 %}{% with x = 2, y = x %}{{ x }}{{ y }}{% endwith %}{{ x }}",
    "{% for a, b in d.items() %}{{ a }}={{ b }};{% endfor %}", "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.last }}{{ loop.depth }}{{ loop }}{{ loop.nope }}{% endfor %}",
    "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in 1, 2 %}{{ x }}{% endfor %}", "{% for x in l if x > 1 %}{{ loop.length }}{{ x }} {% endfor %}",
    "{% set x = ls|map('upper') %}{{ x|list }}{{ x|list }}", "{% if msgs|selectattr('x', 'defined') %}y{% else %}n{% endif %}",
    "{% set x %} hi {% endset %}[{{ x }}]", "{% set x | upper | trim %} hi {% endset %}[{{ x }}]",
    "{% filter upper|replace('A', 'b') %}abc{% endfilter %}", "{% set ns = namespace(x=0) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set q = 1, %}{{ q }}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=5) }}{{ m(b=3, a=4) }}{{ m() }}",
    "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(c=2) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m() %}{{ x }}{% endmacro %}{% set x = 3 %}{{ m() }}", "{{ 1 +}}", "{%+ if true %}\na{% endif %}", "{% if true +%}\na{% endif %}",
    "x\u00a0\n\u00a0{%- if true %}a{% endif %}", "{{ 'a' -}} \u00a0\n b", "{% for x in d %}{{ x }}{% endfor %}", "{% for c in 'añ🙂' %}[{{ c }}]{% endfor %}",
    "{% set loop = 5 %}{% for x in [1] %}{{ loop.index }}{% endfor %}{{ loop }}", "{% for x in l %}{% set y = x %}{% endfor %}{{ y }}",
]


def random_expression(r, depth=0):
    atoms = [*VALUES, "u", "'a b'", "''", "1", "0", "-2", "3.25", "true", "none", "[1, 'a']", "{'k': 1}", "(1, 'b')", "'é\\n'", "1e16", "2 ** 65"]
    if depth > 2 or r.random() < .25:
        return r.choice(atoms)
    x = lambda: random_expression(r, depth + 1)
    filters = ["upper", "lower", "title", "capitalize", "trim", "length", "string", "list", "first", "last", "reverse|list", "sort", "unique|list",
               "join(%s)", "default(%s)", "default(%s, true)", "replace(%s, %s)", "replace('a', %s, %s)", "tojson", "tojson(indent=%s)", "int", "int(%s)",
               "float", "round", "round(%s)", "abs", "max", "min", "sum", "dictsort", "items|list", "indent", "indent(%s)", "map('string')|list",
               "map(attribute=%s)|list", "select|list", "reject('none')|list", "batch(2)|list", "slice(2)|list", "wordcount", "center(%s)", "e", "safe"]
    methods = ["strip()", "strip(%s)", "split()", "split(%s)", "split(%s, %s)", "rsplit(%s, %s)", "upper()", "title()", "capitalize()", "find(%s)", "find(%s, %s)",
               "count(%s)", "replace(%s, %s)", "replace(%s, %s, %s)", "startswith(%s)", "endswith(%s)", "join(%s)", "splitlines()", "partition(%s)",
               "items()", "keys()", "values()", "get(%s)", "get(%s, %s)", "index(%s)", "zfill(%s)", "removeprefix(%s)", "isdigit()", "copy()", "k", "b", "role"]
    tests = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "odd", "even", "true",
             "false", "eq %s", "ne(%s)", "in %s", "lt(%s)", "upper", "lower", "callable", "divisibleby(%s)"]
    fill = lambda form: form.replace("%s", "\0").split("\0")
    def filled(form):
        parts = fill(form)
        return parts[0] + "".join(x() + part for part in parts[1:])
    kind = r.randrange(9)
    if kind < 3:
        return "(%s)|%s" % (x(), filled(r.choice(filters)))
    if kind < 5:
        return "(%s).%s" % (x(), filled(r.choice(methods)))
    if kind == 5:
        return "(%s %s %s)" % (x(), r.choice(["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"]), x())
    if kind == 6:
        return "(%s) is %s" % (x(), filled(r.choice(tests)).replace("is in (", "is in ("))
    if kind == 7:
        return "(%s)[%s]" % (x(), r.choice([x(), "1:", ":2", "::-1", ":-1", "0", "-1", "'k'"]))
    return "(%s if %s else %s)" % (x(), x(), x())


def made(template):
    try:
        return {"template": template, "text": _compile_jinja_template(template).render(**copy.deepcopy(VALUES))}
    except Exception:
        return {"template": template}


def cases():
    r = random.Random(20261129)
    seen = set()
    for expression in KNOWN:
        yield made("{{ " + expression + " }}")
    for statement in STATEMENTS:
        yield made(statement)
    while len(seen) < int(sys.argv[sys.argv.index("--random") + 1] if "--random" in sys.argv else 1500):
        expression = random_expression(r)
        # What Python prints with an address, and what depends on how it keeps equal values, is not compared.
        case = made("{{ " + expression + " }}")
        if expression not in seen and " at 0x" not in case.get("text", "") and len(case.get("text", "")) < 400:
            seen.add(expression)
            yield case


if __name__ == "__main__":
    table = {"jinja2": jinja2.__version__, "values": VALUES, "cases": list(cases())}
    if "--check" in sys.argv:
        stored = json.loads(FILE.read_text(encoding="utf-8"))
        different = [a for a, b in zip(stored["cases"], table["cases"]) if a != b]
        if different or len(stored["cases"]) != len(table["cases"]):
            sys.exit(f"{FILE} differs from what jinja2 {jinja2.__version__} makes: {different[:1]}")
        print(f"{len(table['cases'])} cases agree with jinja2 {jinja2.__version__}")
    elif "--random" in sys.argv:
        json.dump(table, sys.stdout)
    else:
        lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in table["cases"])
        head = json.dumps({k: v for k, v in table.items() if k != "cases"}, ensure_ascii=True)[:-1]
        FILE.write_text(head + ',\n"cases": [\n' + lines + "\n]}\n", encoding="utf-8")
