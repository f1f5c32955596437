"""Writes, or with --check compares, what Python's jinja2 makes of the chat templates under test.

    python3 chat_templates.py [--check]

The environment is the one of transformers' apply_chat_template: trim_blocks, lstrip_blocks, loop controls,
its tojson, raise_exception, strftime_now and the generation tag. The result is cases.json beside the
templates, which JinjaChatTemplateTest reads; "error" stands for an expected refusal.
"""

import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).resolve().parents[1] / "resources/io/troupe/chat/chat"
NOW = datetime.datetime(2026, 11, 21, 14, 5, 9)
SPECIAL = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}

SYSTEM = {"role": "system", "content": " Answer briefly. "}
USER = {"role": "user", "content": "What is 2+2?"}
ANSWER = {"role": "assistant", "content": "<think>\nTwo and two.\n</think>\n\nIt is 4."}
AGAIN = {"role": "user", "content": "Sure? <|im_end|> é"}
TALKS = {
    "question": [USER],
    "instructed": [SYSTEM, USER],
    "answered": [SYSTEM, USER, ANSWER],
    "asked again": [USER, ANSWER, AGAIN],
    "late system": [USER, SYSTEM],
}
ARGUMENTS = [{}, {"enable_thinking": False}, {"enable_thinking": True, "date_string": "1 Jan 2020"},
             {"tools": [{"name": "add", "parameters": {"a": "int", "note": "é <b>"}}]}]


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
environment.filters["tojson"] = to_json
environment.globals["raise_exception"] = refuse
environment.globals["strftime_now"] = NOW.strftime


def cases():
    for template in sorted(path.name for path in HERE.glob("*.jinja")):
        compiled = environment.from_string((HERE / template).read_text(encoding="utf-8"))
        for talk, messages in TALKS.items():
            for generate in (False, True):
                for arguments in ARGUMENTS:
                    variables = {**SPECIAL, "tools": None, "documents": None, "messages": messages,
                                 "add_generation_prompt": generate, **arguments}
                    case = {"template": template, "talk": talk, "messages": messages, "generate": generate,
                            "arguments": arguments}
                    try:
                        case["expected"] = compiled.render(**variables)
                    except jinja2.exceptions.TemplateError as refusal:
                        case["error"] = str(refusal)
                    yield case


if __name__ == "__main__":
    made = {"jinja2": jinja2.__version__, "special": SPECIAL, "now": NOW.isoformat() + "Z", "cases": list(cases())}
    file = HERE / "cases.json"
    if "--check" in sys.argv:
        stored = json.loads(file.read_text(encoding="utf-8"))
        different = [a for a, b in zip(stored["cases"], made["cases"]) if a != b]
        if different or len(stored["cases"]) != len(made["cases"]):
            sys.exit(f"{file} differs from what jinja2 {jinja2.__version__} makes: {different[:1]}")
        print(f"{len(made['cases'])} cases agree with jinja2 {jinja2.__version__}")
    else:
        file.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
