"""Results of tools as a served model sees them: ids of whole conversations by a trained tokenizer and transformers' chat template.

Written with Python 3.12, tokenizers 0.23.3, transformers 5.17.0.

    python observed_tokens.py --record FOLDER [--cases 150] [--seed 1]

FOLDER has the tokenizer, a byte-level BPE with the pieces of Qwen2's that is trained on the cases' own kind of text, the chat template,
and cases.json. Of each case "crc" is that of all ids, as big-endian integers, of a question, an answer with calls, their results and the
beginning of the next answer, and "from" and "to" are where the answer is in them, with the token that ends it.
"""
import argparse
import importlib.metadata
import json
import pathlib
import random
import struct
import zlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEMPLATE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content }}
        {%- for call in message.tool_calls %}
            {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""
NUMBERS = [0, -1, 42, 2**31, 2**64, 10**30, 0.1, -2.5, 100.0, 1e-05, 1e-07, 1e15, 1e16, 1e22, 5e-324, 123456789.125]
PIECES = [
    "temperature", "is", "21", "degrees", "naïve", "東京", "🙂", "e\u0301", "\n", "\n\n", "\r\n", "\t", " ", "  ", "\u00a0", "\u2028", "<b>", "&amp;", "{", "}", "[]",
    '"', "'s", "\\", "...", "!?", "</tool_response>", "<tool_response>", "<tool_call>", "</think>", "Traceback (most recent call last):\n  File \"x.py\"", "\x1b[31m",
]


def text(dice, most=8):
    return "".join(dice.choice(PIECES) + dice.choice(["", " ", " "]) for _ in range(dice.randint(0, most)))


def value(dice, depth=0):
    kind = dice.randint(0, 4 if depth < 3 else 2)
    if kind < 2:
        return dice.choice(NUMBERS)
    if kind == 2:
        return dice.choice([True, None, text(dice, 3)])
    if kind == 3:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {dice.choice(["a", "naïve", "x y", "东"]): value(dice, depth + 1) for _ in range(dice.randint(0, 3))}


def result(dice):
    if dice.random() < 0.5:
        return text(dice)
    return json.dumps(value(dice), ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, 2]))


def trained(dice):
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    bpe.decoder = decoders.ByteLevel()
    shown = ["\n<tool_response>\n" + result(dice) + "\n</tool_response>\n" for _ in range(400)]
    bpe.train_from_iterator(shown, trainers.BpeTrainer(
        vocab_size=700, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    bpe.add_special_tokens([AddedToken(each, normalized=False, special=True) for each in SPECIAL])
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", chat_template=TEMPLATE)


def case(dice, tokenizer):
    calls = [
        {"type": "function", "function": {"name": "look", "arguments": {"at": dice.choice(NUMBERS)}}} for _ in range(dice.randint(1, 3))
    ]
    messages = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "I look.", "tool_calls": calls}]
    results = [result(dice) for _ in calls]
    before = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, return_dict=False)
    answered = tokenizer.apply_chat_template(messages, return_dict=False)
    messages += [{"role": "tool", "content": each} for each in results]
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    end = len(ids) - 1 - ids[::-1].index(tokenizer.eos_token_id, ids[::-1].index(tokenizer.eos_token_id) + 1)
    assert ids[: len(before)] == before and ids[: end + 1] == answered[: end + 1] and ids[end] == tokenizer.eos_token_id
    return {
        "results": results, "answer": ids[len(before) : end + 1], "from": len(before), "to": end + 1,
        "crc": zlib.crc32(struct.pack(f">{len(ids)}i", *ids)),
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", required=True, metavar="FOLDER", type=pathlib.Path)
    options.add_argument("--cases", type=int, default=150)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    dice = random.Random(chosen.seed)
    tokenizer = trained(dice)
    tokenizer.save_pretrained(chosen.record)
    tokenizer.backend_tokenizer.save(str(chosen.record / "tokenizer.json"), pretty=False)
    software = {name: importlib.metadata.version(name) for name in ["tokenizers", "transformers"]}
    cases = [case(dice, tokenizer) for _ in range(chosen.cases)]
    lines = ",\n".join(json.dumps(each, ensure_ascii=True) for each in cases)
    (chosen.record / "cases.json").write_text(f'{{"software": {json.dumps(software)}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
