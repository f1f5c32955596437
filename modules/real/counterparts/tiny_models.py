"""Tiny random models, made and asked by transformers, and the same questions for `troupe serve`."""
import json
import pathlib
import sys
import urllib.error
import urllib.request

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

import troupe_real as real

sys.path.append(str(real.TREE / "modules/engine-djl/src/test/python"))
from saved_checkpoints import tokenizer  # noqa: E402

torch.set_num_threads(1)
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=24, vocab_size=268, max_position_embeddings=128, bos_token_id=0, eos_token_id=2)
FAMILIES = {"qwen3": (Qwen3Config, dict(head_dim=8)), "qwen2": (Qwen2Config, {}), "llama": (LlamaConfig, {})}
TOLERANCE = 1e-4


def save(folder, family, dtype=torch.float32, seed=1, shard="1GB", **more):
    """Saves a random model with a tokenizer, and returns the folder."""
    kind, own = FAMILIES[family]
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(kind(**{**SIZES, **own, **more}))
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.3 + (weight.dim() == 1))
    model.generation_config.update(eos_token_id=[2], pad_token_id=0)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    tokenizer().save_pretrained(folder)
    return pathlib.Path(folder)


def ids(dice, size=12):
    return [dice.randrange(3, 268) for _ in range(size)]


def scores(model, tokens):
    """The log-probability of each token but the first, after those before it."""
    with torch.no_grad():
        rows = model(torch.tensor([tokens])).logits[0].float().log_softmax(-1)
    return [rows[i - 1, tokens[i]].item() for i in range(1, len(tokens))]


def opened(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def greedy(model, tokens, size):
    end = {2}
    out = []
    while len(out) < size and not end & set(out):
        with torch.no_grad():
            out.append(model(torch.tensor([tokens + out])).logits[0, -1].argmax().item())
    return out


def post(address, path, body):
    """Returns the status and the answer."""
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        status, text = refused.code, refused.read().decode()
    return status, json.loads(text) if text.startswith("{") else text


def served(address, tokens, size, model="policy"):
    """The log-probabilities of a prompt, and greedy tokens with theirs."""
    status, answer = post(address, "/v1/completions", {"model": model, "prompt": tokens, "max_tokens": size, "temperature": 0, "echo": True, "logprobs": 1, "return_token_ids": True})
    if status != 200:
        raise AssertionError(f"{status}: {answer}")
    choice = answer["choices"][0]
    return choice["logprobs"]["token_logprobs"][1:], choice["token_ids"]


def compare(name, model, address, prompts, size=8, served_as="policy"):
    """Log-probabilities within a bound, and the same greedy tokens where no two are as good as equal."""
    worst, differing = 0.0, ""
    for tokens in prompts:
        got, new = served(address, tokens, size, served_as)
        expected = scores(model, tokens + new)
        worst = max([worst, *(abs(a - b) for a, b in zip(expected, got, strict=True))])
        theirs = greedy(model, tokens, size)
        if theirs != new:
            differing = f"{tokens}: {theirs} and {new}"
    real.check(f"{name}: log-probabilities", worst <= TOLERANCE, f"within {TOLERANCE}", worst)
    real.check(f"{name}: greedy tokens", not differing, "the same tokens", differing)
