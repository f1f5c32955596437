"""Random conversations, and what transformers makes of each, over the chat templates that trl ships.

Written with Python 3.12, transformers 5.17.0, trl 1.13.0. The templates are those of trl's package (Apache License 2.0).

    python random_conversations.py --record random-conversations.json.gz      the table that RandomConversationsTest replays
    python random_conversations.py --cases 10000 --seed 7 --record FILE       a larger one

A case has the variables of a rendering, and "sha" of its text: 16 digits of SHA-256 of its UTF-8. "refused" is what the template, or
Python, says instead. Conversations have system messages, tools, calls with numbers of every size and form, results of tools that hold
JSON or the marks of other messages, thoughts in each of their fields and thoughts within contents.
"""
import argparse
import datetime
import gzip
import hashlib
import importlib.metadata
import json
import pathlib
import random

import transformers.utils.chat_template_utils as rendering
import trl

FOLDER = pathlib.Path(trl.__file__).parent / "chat_templates"
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
NUMBERS = [
    0, 1, -1, 42, 2**31, -(2**63), 2**64, 10**30, 0.0, -0.0, 0.1, -2.5, 100.0, 1e-05, 1e-07, 0.0001, 1e15, 1e16, 1e22, 1.7976931348623157e308,
    5e-324, 123456789.125, 0.30000000000000004, 2.0**-30,
]
PIECES = [
    "sum", "of", "two", "naïve", "東京", "🙂", "é", "e\u0301", "{x}", "{{ y }}", "{% z %}", '"said"', "it's", "\\n", "a\\b", "<b>&amp;</b>", "/", "100%", "~",
    "\t", "\n", "\n\n", " ", "  ", "\r\n", "\u00a0", "\u2028", "\u200b", "\ufeff", "\x0b", "\x1c", "\x85", "null", "[]",
]
MARKS = [
    "<think>", "</think>", "<think>\n", "\n</think>\n\n", "</tool_response>", "<tool_response>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|eot_id|>",
    "[/INST]", "</s>", "<|tool_calls_section_end|>", "<|channel|>", "<end_of_turn>",
]


class Day(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 2, 3, 4, 5)


rendering.datetime = Day


class Dice(random.Random):
    def often(self, share):
        return self.random() < share

    def text(self, most=6, marks=0.1):
        parts = [self.choice(MARKS if self.often(marks) else PIECES) for _ in range(self.randint(0, most))]
        return self.choice(["", "", "", " ", "\n"]) + self.choice(["", " "]).join(parts) + self.choice(["", "", "", " ", "\n", "  \n"])

    def value(self, depth=0):
        kind = self.randint(0, 5 if depth < 3 else 3)
        if kind == 0:
            return self.text(3)
        if kind < 3:
            return self.choice(NUMBERS)
        if kind == 3:
            return self.choice([True, False, None])
        if kind == 4:
            return [self.value(depth + 1) for _ in range(self.randint(0, 3))]
        return {self.choice(["a", "b", "naïve", "x y", "items", "<k>"]): self.value(depth + 1) for _ in range(self.randint(0, 3))}

    def arguments(self):
        return {name: self.value() for name in self.sample(["city", "unit", "n", "größe"], self.randint(0, 3))}

    def schema(self):
        return self.choice([
            {"type": "string", "description": self.text(3)}, {"type": "integer", "default": self.choice(NUMBERS)}, {"type": ["number", "null"]},
            {"type": "string", "enum": ["c", "f"]}, {"type": "array", "items": {"type": "number"}}, {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
            {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        ])

    def tool(self, name):
        parameters = {"type": "object", "properties": {p: self.schema() for p in self.sample(["city", "unit", "n"], self.randint(0, 3))}}
        if self.often(0.5):
            parameters["required"] = list(parameters["properties"])[:1]
        return {"type": "function", "function": {"name": name, "description": self.text(3), "parameters": parameters}}

    def observation(self):
        """What a tool returns: a text, JSON as json.dumps writes it, or a page that has the marks of messages."""
        kind = self.randint(0, 2)
        if kind == 0:
            return self.text()
        if kind == 1:
            return json.dumps(self.value(), ensure_ascii=self.often(0.5), indent=self.choice([None, None, 2]))
        return self.text(3, 0) + self.choice(MARKS) + self.text(3, 0.5)

    def thought(self, message):
        """A thought in a field of its own, an empty one with a thought in the content, or one in the content alone."""
        kind = self.randint(0, 3)
        if kind:
            message[self.choice(["reasoning_content", "reasoning_content", "thinking", "reasoning"])] = self.text() if kind > 1 else ""
        if kind < 2 or self.often(0.1):
            message["content"] = self.choice(["<think>\n", "<think>", ""]) + self.text() + "</think>" + self.choice(["\n\n", ""]) + self.text()

    def calls(self):
        return [
            {
                "type": "function", "id": f"call{self.randint(10000, 99999)}",
                "function": {"name": self.choice(["weather", "calc"]), "arguments": a if self.often(0.85) else json.dumps(a, ensure_ascii=False)},
            }
            for a in (self.arguments() for _ in range(self.randint(1, 3)))
        ]

    def messages(self):
        messages = []
        if self.often(0.5):
            messages.append({"role": "developer" if self.often(0.1) else "system", "content": self.text()})
        for _ in range(self.randint(1, 3)):
            messages.append({"role": "user", "content": self.text()})
            if self.often(0.2):
                break
            answer = {"role": "assistant", "content": self.text()}
            messages.append(answer)
            if self.often(0.5):
                self.thought(answer)
            if self.often(0.5):
                if self.often(0.4):
                    answer["content"] = self.choice(["", None])
                answer["tool_calls"] = self.calls()
                for call in answer["tool_calls"]:
                    messages.append({"role": "tool", "content": self.observation()})
                    if self.often(0.7):
                        messages[-1] |= {"name": call["function"]["name"], "tool_call_id": call["id"]}
                if self.often(0.8):
                    messages.append({"role": "assistant", "content": self.text()})
                    if self.often(0.3):
                        self.thought(messages[-1])
        return messages

    def variables(self):
        variables = {"messages": self.messages()}
        if self.often(0.5):
            variables["tools"] = [self.tool(name) for name in self.sample(["weather", "calc", "search"], self.randint(1, 3))]
        for name, values in {"enable_thinking": [True, False], "preserve_thinking": [True, False], "reasoning_effort": ["low", "high"]}.items():
            if self.often({"enable_thinking": 0.5}.get(name, 0.1)):
                variables[name] = self.choice(values)
        return variables


def table(count, seed):
    dice = Dice(seed)
    templates = {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.jinja"))}
    names, cases = list(templates), []
    for number in range(count):
        case = {"template": names[number % len(names)], "generate": dice.often(0.5), "variables": dice.variables()}
        more = dict(case["variables"])
        try:
            text = rendering.render_jinja_template(
                conversations=[more.pop("messages")], tools=more.pop("tools", None), chat_template=templates[case["template"]],
                add_generation_prompt=case["generate"], **SPECIAL, **more,
            )[0][0]
            case["sha"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        except Exception as refused:  # of the template, by whatever means
            case["refused"] = f"{type(refused).__name__}: {refused}"[:100]
        cases.append(case)
    software = {name: importlib.metadata.version(name) for name in ["transformers", "trl", "jinja2"]}
    return {"software": software, "seed": seed, "now": Day.now().isoformat() + "Z", "special": SPECIAL, "templates": templates, "cases": cases}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", required=True, metavar="FILE", help="JSON, compressed")
    options.add_argument("--cases", type=int, default=378)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    text = json.dumps(table(chosen.cases, chosen.seed), ensure_ascii=False, separators=(",", ":"))
    with open(chosen.record, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    main()
