"""Random supervised conversations, and what trl's SFTTrainer learns of each, over the chat templates that trl ships.

Written with Python 3.12, trl 1.13.0, transformers 5.17.0. The templates are those of trl's package (Apache License 2.0).

    python trl_rows.py --record trl-rows.json.gz                 the table that the tests replay
    python trl_rows.py --cases 5000 --seed 7 --record FILE       a larger one

A row with messages is what assistant_only_loss=True learns with a training template: what stands between its generation marks. A
row with a prompt and a completion is what completion_only_loss learns of it, with a training template both; of texts, no template. In "text", what is learnt
stands between the marks U+27E6 and U+27E7. "crc" is that of all ids, and of a 0 or 1 for each, as big-endian integers. "unmasked" is
the text of a row whose prompt the text does not begin with: trl warns of it. "lost" is what the template leaves out of tools and of
what is learnt, which trl does not look for. "refused" is what the template says.

Four differences are no matter of truth, and are taken out here: what stands behind the last learnt token, white space behind a
completion's last special token, which sampling ends with, answers with "weight": 0, a field that trl does not have, and the bytes of
a character of which the marks cover the first.

The tokenizer has an id for each byte, 0 to 255, and behind them the template's special tokens in the order of "special".
"""
import argparse
import datetime
import gzip
import importlib.metadata
import json
import pathlib
import random
import re
import struct
import zlib

import transformers.utils.chat_template_utils as rendering
import trl
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from trl.chat_template_utils import has_generation_markers
from trl.data_utils import _tokenize

FOLDER = pathlib.Path(trl.__file__).parent / "chat_templates"
OPEN, CLOSE = "\u27e6", "\u27e7"
SPECIAL = re.compile(
    r"<\|[A-Za-z_][^|<>{}\s]*\|>|<\uff5c[^\uff5c<>]+\uff5c>|</s>|<s>|<eos>|<bos>"
    r"|<(?:start_of_turn|end_of_turn|end_of_utterance|sop)>|<\|[a-z_]+>|<[a-z_]+\|>"
)
# Beginning of text and end of text, by the beginning of a template's name.
ENDS = {
    "cohere": ("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"),
    "deepseek": ("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    "diffusion_gemma": ("<bos>", "<eos>"),
    "gemma": ("<bos>", "<eos>"),
    "glm4moe": ("", "<|endoftext|>"),
    "gptoss": ("<|startoftext|>", "<|return|>"),
    "idefics3": ("<|begin_of_text|>", "<end_of_utterance>"),
    "lfm2": ("<|startoftext|>", "<|im_end|>"),
    "llama3": ("<|begin_of_text|>", "<|eot_id|>"),
    "llava_next": ("<s>", "</s>"),
    "muse_glimmer": ("<|begin_of_text|>", "<|eot|>"),
    "nemotron": ("<s>", "<|im_end|>"),
    "phi3": ("<s>", "<|endoftext|>"),
    "qwen": ("", "<|im_end|>"),
}
WORDS = ["sum", "of", "two", "42", "-7", "3.5", "naïve", "東京", "{x}", "\"said\"", "it's", "\\n", "a/b", "<b>", "&", "x = 1", "🙂", "é"]
JOINS = [" ", " ", " ", "\n", "\n\n", ", ", "\t"]


class Day(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 2, 3, 4, 5)


rendering.datetime = Day


def tokenizer(name, text):
    bos, eos = next(ends for prefix, ends in ENDS.items() if name.startswith(prefix))
    special = sorted({eos, *([bos] if bos else []), *SPECIAL.findall(text)})
    letters = pre_tokenizers.ByteLevel.alphabet()
    printed = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
    names, more = {b: chr(b) for b in printed}, 0
    for b in range(256):
        if b not in names:
            names[b], more = chr(256 + more), more + 1
    assert set(names.values()) == set(letters)
    bytes_only = Tokenizer(models.BPE(vocab={names[b]: b for b in range(256)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.add_special_tokens([AddedToken(each, normalized=False, special=True) for each in special])
    fast = PreTrainedTokenizerFast(tokenizer_object=bytes_only, eos_token=eos, **({"bos_token": bos} if bos else {}))
    fast.chat_template = text
    return fast, special


def words(rng, low=1, high=6):
    text = rng.choice(WORDS)
    for _ in range(rng.randint(low, high) - 1):
        text += rng.choice(JOINS) + rng.choice(WORDS)
    return text


def value(rng, depth=0):
    return rng.choice([
        lambda: rng.randint(-9, 99), lambda: rng.random() < 0.5, lambda: words(rng, 1, 3), lambda: rng.choice([0.5, 1e-7, 1e22]),
        lambda: None if depth else "none",
        lambda: [value(rng, 2) for _ in range(rng.randint(0, 2))] if depth < 2 else 1,
        lambda: {k: value(rng, 2) for k in rng.sample(["x", "y z", "é"], 2)} if depth < 2 else 2,
    ])()


def tool(rng, name):
    properties = {p: {"type": rng.choice(["string", "number", "boolean"]), "description": words(rng, 1, 3)} for p in rng.sample(["a", "b", "c"], rng.randint(1, 3))}
    return {"type": "function", "function": {"name": name, "description": words(rng), "parameters": {"type": "object", "properties": properties, "required": sorted(properties)[:1]}}}


def answer(rng, calls, thinks, blank=False):
    message = {"role": "assistant", "content": words(rng)}
    if thinks and rng.random() < 0.5:
        message["reasoning_content"] = words(rng)
    elif thinks and rng.random() < 0.4:
        message["content"] = "<think>\n" + words(rng) + "\n</think>\n\n" + message["content"]
    if calls:
        if rng.random() < 0.6 or blank:
            message["content"] = ""
        message["tool_calls"] = [
            {"id": "call_" + str(rng.randint(100, 999)), "type": "function", "function": {"name": rng.choice(calls), "arguments": {k: value(rng) for k in rng.sample(["a", "b", "c"], rng.randint(0, 2))}}}
            for _ in range(rng.choice([1, 1, 2]))
        ]
    return message


def conversation(rng):
    """A row of messages that ends with an answer."""
    names = rng.sample(["add", "get_weather", "find"], rng.choice([0, 0, 1, 2]))
    thinks = rng.random() < 0.4
    messages = [{"role": "system", "content": words(rng)}] if rng.random() < 0.4 else []
    for turn in range(rng.choice([1, 1, 2, 3])):
        messages.append({"role": "user", "content": words(rng)})
        if names and rng.random() < 0.6:
            messages.append(answer(rng, names, thinks))
            for call in messages[-1]["tool_calls"]:
                messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": words(rng)})
        messages.append(answer(rng, [], thinks))
    row = {"messages": messages}
    if names:
        row["tools"] = [tool(rng, name) for name in names]
    row["chat_template_kwargs"] = {"enable_thinking": rng.random() < 0.5}
    return row


def weighed(rng, row):
    """The row with some answers, never the last, that are not learnt."""
    for message in row["messages"][:-1]:
        if message["role"] == "assistant" and rng.random() < 0.3:
            message["weight"] = 0
    return row


def prompted(rng, row):
    """The row as a prompt and a completion, which may be a call."""
    messages = row.pop("messages")
    calls = [i for i, m in enumerate(messages) if "tool_calls" in m]
    cut = rng.choice(calls) if calls and rng.random() < 0.7 else len(messages) - 1
    return {"prompt": messages[:cut], "completion": [messages[cut]], **row}


def plain(rng, eos):
    """A row of texts, whose completion may spell the end that trl would add."""
    return {"prompt": words(rng), "completion": words(rng) + (eos if rng.random() < 0.3 else "")}


def marked(fast, ids, mask):
    text, learnt, run = "", 0, []
    for token, bit in [*zip(ids, mask), (None, 0)]:
        if token is None or bit != learnt:
            text += fast.decode(run, clean_up_tokenization_spaces=False)
            run = []
            if bit != learnt:
                text += OPEN if bit else CLOSE
            learnt = bit
        run.append(token)
    return text


def characters(ids, mask):
    """The mask with the bit of a character's first byte for all of its bytes."""
    bits = []
    for token, bit in zip(ids, mask):
        bits.append(bits[-1] if 0x80 <= token < 0xC0 else bit)
    return bits


def unlearn(mask, messages):
    """The mask without the runs of answers whose weight is 0."""
    answers = [m for m in messages if m["role"] == "assistant"]
    runs, before = [], 0
    for at, bit in enumerate(mask):
        if bit and not before:
            runs.append([])
        if bit:
            runs[-1].append(at)
        before = bit
    if not any("weight" in m for m in answers):
        return mask
    if len(runs) != len(answers):
        return None
    mask = list(mask)
    for message, run in zip(answers, runs):
        for at in run if message.get("weight") == 0 else []:
            mask[at] = 0
    return mask


def lost(text, row):
    """What the text does not show of the tools, and what is learnt does not show of its answers."""
    answers = [m for m in row.get("messages", row.get("completion")) if m["role"] == "assistant" and m.get("weight") != 0]
    runs = re.findall(f"{OPEN}(.*?){CLOSE}", text, re.DOTALL)
    parts = [(text, each["function"]["name"]) for each in row.get("tools", [])]
    for number, message in enumerate(answers):
        run = runs[number] if len(runs) == len(answers) else "".join(runs)
        thought, _, content = message["content"].rpartition("</think>")
        said = [message.get("reasoning_content", ""), thought.removeprefix("<think>"), content]
        said += [call["function"]["name"] for call in message.get("tool_calls", [])]
        parts += [(run, each) for each in said]
    return sorted({part for where, part in parts if part.strip() not in where})


def learn(fast, form, row):
    if form == "plain":
        ended = row["completion"].removesuffix(fast.eos_token) + fast.eos_token
        prompt = _tokenize(fast, row["prompt"])["input_ids"]
        whole = _tokenize(fast, row["prompt"] + ended)["input_ids"]
        return whole, [0] * len(prompt) + [1] * (len(whole) - len(prompt))
    arguments = {"tools": row.get("tools"), **row.get("chat_template_kwargs", {})}
    if form == "messages":
        whole = _tokenize(fast, row["messages"], return_assistant_tokens_mask=True, **arguments)
        ids = whole["input_ids"]
        return ids, unlearn(characters(ids, whole["assistant_masks"]), row["messages"])
    prompt = _tokenize(fast, row["prompt"], add_generation_prompt=True, **arguments)["input_ids"]
    marks = has_generation_markers(fast.chat_template)
    whole = _tokenize(fast, row["prompt"] + row["completion"], return_assistant_tokens_mask=marks, **arguments)
    ids, mask = whole["input_ids"], whole.get("assistant_masks", [1] * len(whole["input_ids"]))
    if ids[: len(prompt)] != prompt:
        return ids, None
    mask = [0] * len(prompt) + characters(ids, mask)[len(prompt) :]
    special = max(at for at, each in enumerate(ids) if each > 255)
    if not marks and fast.decode(ids[special + 1 :]).isspace():
        mask = mask[: special + 1]
    return ids, mask


def cases(count, seed):
    rng = random.Random(seed)
    templates, rows = {}, []
    files = sorted(FOLDER.glob("*.jinja"))
    fasts = {}
    for number in range(count):
        file = files[number % len(files)]
        text = file.read_text()
        if file.stem not in fasts:
            fasts[file.stem], special = tokenizer(file.stem, text)
            templates[file.stem] = {"text": text, "bos": fasts[file.stem].bos_token or "", "eos": fasts[file.stem].eos_token, "special": special}
        fast = fasts[file.stem]
        marks = has_generation_markers(text)
        row = conversation(rng)
        form = "plain" if rng.random() < 0.1 else "messages" if marks and rng.random() < 0.8 else "prompt"
        row = plain(rng, fast.eos_token) if form == "plain" else weighed(rng, row) if form == "messages" else prompted(rng, row)
        case = {"template": file.stem, "row": row}
        try:
            ids, mask = learn(fast, form, row)
        except Exception as refused:  # of the template, by whatever means
            case["refused"] = f"{type(refused).__name__}: {refused}"[:100]
        else:
            if mask is None:
                case["text"] = marked(fast, ids, [0] * len(ids))
                case["unmasked"] = True
            else:
                learnt = len(mask) - mask[::-1].index(1)
                ids, mask = ids[:learnt], mask[:learnt]
                case["text"] = marked(fast, ids, mask)
                if form != "plain" and (missing := lost(case["text"], row)):
                    case["lost"] = missing
                case["crc"] = zlib.crc32(struct.pack(f">{2 * len(ids)}i", *ids, *mask))
        rows.append(case)
    return {
        "software": {name: importlib.metadata.version(name) for name in ["trl", "transformers", "tokenizers", "jinja2"]},
        "seed": seed, "templates": templates, "rows": rows,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", required=True, metavar="FILE", help="JSON, compressed")
    options.add_argument("--cases", type=int, default=378)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    table = json.dumps(cases(chosen.cases, chosen.seed), ensure_ascii=False, separators=(",", ":"))
    with open(chosen.record, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(table.encode())


if __name__ == "__main__":
    main()
