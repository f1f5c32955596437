"""Random conversations over the templates that trl ships: as prompts, and as rows of supervised training."""
import gzip
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import troupe_real as real

PROMPTS = ("modules/chat-templates/src/test/python/random_conversations.py", "modules/chat-templates/src/test/resources/io/troupe/chat/random-conversations.json.gz")
ROWS = ("modules/tasks/src/test/resources/io/troupe/tasks/supervised/trl_rows.py", "modules/tasks/src/test/resources/io/troupe/tasks/supervised/trl-rows.json.gz")
sys.path.append(str((real.TREE / ROWS[0]).parent))
import trl_rows  # noqa: E402


def made(program, name, *options):
    subprocess.run([sys.executable, str(real.TREE / program), "--record", name, *options], check=True, stdout=sys.stderr)
    return pathlib.Path(name)


def table(program, recorded):
    """The recorded table is what the library says now; returns another one, of the user's seed."""
    real.recorded(recorded, made(program, "recorded.json.gz"))
    more = made(program, "table.json.gz", "--cases", str(real.count(1000)), "--seed", str(real.OPTIONS.seed + 1))
    return json.loads(gzip.decompress(more.read_bytes()))


def prompts(probe):
    found = table(*PROMPTS)
    for name, template in found["templates"].items():
        opened = probe({"template": template, "special": found["special"], "now": found["now"]})
        if "opened" not in opened:
            real.check(f"{name} is read", False, "opened", opened)
            continue
        for number, case in enumerate(each for each in found["cases"] if each["template"] == name):
            answer = probe({"variables": case["variables"], "generate": case["generate"]})
            if "refused" in case:
                real.check(f"{name}, conversation {number}: refused by both", "refused" in answer, case["refused"], answer)
            else:
                digest = hashlib.sha256(answer.get("text", "").encode()).hexdigest()[:16]
                real.check(f"{name}, conversation {number}", digest == case["sha"], case, answer)


def shown(fast, sequence):
    """A sequence as the table shows it, with the marks around what is learnt."""
    mask = [0] * len(sequence["prompt"]) + [int(bit) for bit in sequence["imitated"]]
    ids = sequence["prompt"] + sequence["completion"]
    return trl_rows.marked(fast, ids, mask), zlib.crc32(struct.pack(f">{2 * len(ids)}i", *ids, *mask))


def allowed(case, answer, fast, end):
    """Whether what Troupe learns is what trl learns, or differs by what trl warns of or does not look for."""
    odd, text = "lost" in case or "unmasked" in case, case.get("text", "")
    if "refused" in answer:
        return "refused" in case or odd and re.search("leaves out|asks for", answer["refused"])
    if "refused" in case or "sequences" not in answer:
        return False
    sequences = [shown(fast, each) for each in answer["sequences"]]
    if len(sequences) > 1:
        return odd
    (learnt, crc), = sequences
    if learnt == text and crc == case.get("crc") or learnt == re.sub("⟧$", end + "⟧", text):
        return True
    return "unmasked" in case and text.startswith(re.sub("[⟦⟧]", "", learnt))


def rows(probe):
    found = table(*ROWS)
    for name, template in found["templates"].items():
        fast, _ = trl_rows.tokenizer(name, template["text"])
        os.makedirs(f"tokenizer/{name}")
        fast.save_pretrained(f"tokenizer/{name}")
        special = {key + "_token": template[key] for key in ("bos", "eos") if template[key]}
        opened = probe({
            "template": template["text"], "special": special, "now": "2026-01-02T03:04:05Z",
            "folder": f"tokenizer/{name}", "vocabulary": len(fast), "end": fast.eos_token_id})
        if "opened" not in opened:
            real.check(f"{name} is read", False, "opened", opened)
            continue
        for number, case in enumerate(each for each in found["rows"] if each["template"] == name):
            answer = probe({"row": case["row"]})
            ok = allowed(case, answer, fast, template["eos"])
            real.check(f"{name}, row {number}", ok, case, "" if ok else [shown(fast, each) for each in answer["sequences"]] if "sequences" in answer else answer)


with real.Probe("TemplateProbe") as probe:
    for part in (prompts, rows):
        with real.case(part.__name__):
            part(probe)
