"""Checkpoints of transformers in Troupe, and Troupe's in transformers; for both of its lines of versions."""
import json
import pathlib

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

import tiny_models as tiny
import troupe_real as real

FIVE = int(transformers.__version__.split(".")[0]) >= 5
dice = real.dice()


def rope(**values):
    """The settings of rotary positions as this version names them."""
    theta = values.pop("rope_theta", 10000.0)
    return {"rope_parameters": {"rope_theta": theta, **values}} if FIVE else {"rope_theta": theta, **({"rope_scaling": values} if values["rope_type"] != "default" else {})}


YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
MODELS = {
    "qwen3 tied": ("qwen3", dict(tie_word_embeddings=True)),
    "qwen3 bfloat16, theta 1e6": ("qwen3", dict(dtype=torch.bfloat16, **rope(rope_type="default", rope_theta=1e6))),
    "qwen3 yarn, shards": ("qwen3", dict(shard="20KB", **rope(**YARN))),
    "qwen2 tied": ("qwen2", dict(tie_word_embeddings=True)),
    "qwen2 float16": ("qwen2", dict(dtype=torch.float16)),
    "llama, linear": ("llama", rope(rope_type="linear", factor=2.0)),
    "llama 3.1": ("llama", dict(num_key_value_heads=1, **rope(rope_theta=5e5, **LLAMA3))),
    "llama tied, head_dim 6": ("llama", dict(tie_word_embeddings=True, head_dim=6)),
}
TRAINED = ("qwen3 tied", "qwen2 float16", "llama 3.1")
TEXTS = ["the cat", " and the hat<|im_end|>\n", "12 + 345 = é 中文 🙂", "", "<|im_start|>user\nthe hat<|im_end|>\n", "  \n\n\t."]
CHATS = [
    [{"role": "user", "content": "the hat"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}, {"role": "user", "content": "🙂"}],
]
# Other architectures, which must not pass for one of the three.
OTHERS = {
    "mistral": dict(num_hidden_layers=1), "gemma": dict(num_hidden_layers=1, head_dim=8), "gemma2": dict(num_hidden_layers=1, head_dim=8), "gemma3_text": dict(num_hidden_layers=1, head_dim=8), "phi": dict(num_hidden_layers=1),
    "phi3": dict(num_hidden_layers=1, pad_token_id=0), "qwen2_moe": dict(num_hidden_layers=1, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=8, shared_expert_intermediate_size=8),
    "qwen3_moe": dict(num_hidden_layers=1, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=8), "granite": dict(num_hidden_layers=1), "olmo": dict(num_hidden_layers=1), "olmo2": dict(num_hidden_layers=1), "cohere": dict(num_hidden_layers=1),
    "smollm3": dict(num_hidden_layers=1, pad_token_id=0), "gpt2": dict(n_layer=1, n_head=2, n_embd=16), "gpt_neox": dict(num_hidden_layers=1), "falcon": dict(num_hidden_layers=1), "starcoder2": dict(num_hidden_layers=1),
}


def tokens_of(name, folder, address):
    """The ids of texts and of conversations."""
    theirs = AutoTokenizer.from_pretrained(folder)
    for text in TEXTS:
        _, answer = tiny.post(address, "/tokenize", {"prompt": text})
        real.equal(f"{name}: ids of {text!r}", theirs(text, add_special_tokens=True).input_ids, answer.get("tokens", answer))
    for chat in CHATS:
        _, answer = tiny.post(address, "/tokenize", {"messages": chat})
        expected = theirs(theirs.apply_chat_template(chat, tokenize=False, add_generation_prompt=True), add_special_tokens=False).input_ids
        real.equal(f"{name}: ids of a conversation of {len(chat)}", expected, answer.get("tokens", answer))


def checkpoint(name, family, more):
    folder = tiny.save(name.replace(" ", "-").replace(",", ""), family, **more)
    with real.serving("--checkpoint", folder, "--prompt-logprobs", log=f"{folder}.log") as address:
        tiny.compare(name, tiny.opened(folder), address, [tiny.ids(dice, size) for size in (1, 12, 60)])
        if name == "qwen3 tied":
            tokens_of(name, folder, address)
    return folder


def tuned(folder, lora):
    """Two steps of supervised training; returns the policy's folder."""
    name = f"{folder}-{'lora' if lora else 'full'}"
    pathlib.Path("rows.jsonl").write_text("".join(json.dumps({"prompt": f"the {i}", "completion": f"cat {i}"}) + "\n" for i in range(8)))
    pathlib.Path(f"{name}.yaml").write_text(json.dumps({
        "run": {"seed": 1, "folder": name}, "policy": {"engine": "pretrained", "checkpoint": str(folder.resolve()), "context_length": 64, **({"lora": {"rank": 4}} if lora else {})},
        "datasets": [{"file": "rows.jsonl"}], "training": {"epochs": 1, "batch": 4, "learning_rate": 1e-2}, "checkpoint": {"every": 2}}))
    real.troupe("sft", f"{name}.yaml")
    return next(pathlib.Path(name).glob("*/checkpoints/step2/policy"))


def exports(name, folder):
    """A trained policy opens in transformers as it is, and as `models export` writes it."""
    for lora in (False, True):
        with real.case(f"{name}, trained{' by adapters' if lora else ''}"):
            policy = tuned(folder, lora)
            label = f"{name}, trained{' by adapters' if lora else ''}"
            with real.serving("--checkpoint", policy, "--prompt-logprobs") as address:
                tiny.compare(label, tiny.opened(policy), address, [tiny.ids(dice)])
            if not lora:
                real.troupe("models", "export", policy, "--dtype", "float32", "-o", f"{folder}-export")
                a, b = (tiny.opened(each).state_dict() for each in (policy, f"{folder}-export"))
                real.check(f"{label}, exported: weights", a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a), "equal", "different")
                real.troupe("models", "export", policy, "-o", f"{folder}-export16")
                stored = AutoModelForCausalLM.from_pretrained(f"{folder}-export16", dtype="auto")
                real.equal(f"{label}, exported: dtype", ["torch.bfloat16", "torch.bfloat16"], [str(stored.dtype), str(AutoConfig.from_pretrained(f"{folder}-export16").dtype)])
                ids = AutoTokenizer.from_pretrained(f"{folder}-export16")("the cat<|im_end|>").input_ids
                real.equal(f"{label}, exported: tokenizer", AutoTokenizer.from_pretrained(folder)("the cat<|im_end|>").input_ids, ids)


def others():
    """Checkpoints of architectures that Troupe has not are refused by name."""
    with real.Probe("CheckpointProbe") as opened:
        for kind, more in OTHERS.items():
            with real.case(f"{kind} is refused"):
                sizes = {**tiny.SIZES, **more} if "n_layer" not in more else {"vocab_size": 268, **more}
                AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes)).save_pretrained(f"other-{kind}")
                tiny.tokenizer().save_pretrained(f"other-{kind}")
                answer = opened({"folder": f"other-{kind}"})
                real.check(f"{kind} is refused", kind in answer.get("refused", ""), f"a refusal that names {kind}", answer)


def main():
    for name, (family, more) in MODELS.items():
        with real.case(name):
            folder = checkpoint(name, family, dict(more))
            if name in TRAINED:
                exports(name, folder)
    with real.case("other architectures"):
        others()
