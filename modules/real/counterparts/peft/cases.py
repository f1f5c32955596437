"""Adapters: those that Troupe trains in peft, and those that peft makes in `troupe serve`."""
import pathlib

import torch
from peft import AutoPeftModelForCausalLM, LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

import tiny_models as tiny
import transformers_cases as checkpoints
import troupe_real as real

dice = real.dice()
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# What peft can write: a plain one must be taken, another one may be refused, by the key that makes it so.
KINDS = {
    "all matrices, rank 4": (True, dict(r=4, lora_alpha=8, target_modules=ALL)),
    "two matrices": (True, dict(r=2, lora_alpha=3, target_modules=["q_proj", "down_proj"])),
    "one matrix, rank 8": (True, dict(r=8, lora_alpha=8, target_modules=["up_proj"])),
    "dropout of training": (True, dict(r=4, lora_alpha=8, lora_dropout=0.3, target_modules=ALL)),
    "all-linear": (True, dict(r=4, lora_alpha=8, target_modules="all-linear")),
    "attention by a pattern": (False, dict(r=4, lora_alpha=8, target_modules=r".*\.(q|v)_proj")),
    "rsLoRA": (False, dict(r=4, lora_alpha=8, use_rslora=True, target_modules=ALL)),
    "DoRA": (False, dict(r=4, lora_alpha=8, use_dora=True, target_modules=ALL)),
    "ranks by module": (False, dict(r=4, lora_alpha=8, rank_pattern={"q_proj": 2}, target_modules=ALL)),
    "alphas by module": (False, dict(r=4, lora_alpha=8, alpha_pattern={"q_proj": 32}, target_modules=ALL)),
    "one layer": (False, dict(r=4, lora_alpha=8, layers_to_transform=[1], target_modules=ALL)),
    "biases": (False, dict(r=4, lora_alpha=8, bias="all", target_modules=ALL)),
    "biases of LoRA": (False, dict(r=4, lora_alpha=8, lora_bias=True, target_modules=ALL)),
    "modules to save": (False, dict(r=4, lora_alpha=8, target_modules=["q_proj"], modules_to_save=["embed_tokens"])),
    "embedding": (False, dict(r=4, lora_alpha=8, target_modules=["q_proj", "embed_tokens"])),
    "head": (False, dict(r=4, lora_alpha=8, target_modules=["q_proj", "lm_head"])),
    "PiSSA": (False, dict(r=4, lora_alpha=8, init_lora_weights="pissa", target_modules=ALL)),
    "trainable tokens": (False, dict(r=4, lora_alpha=8, trainable_token_indices=[5, 6], target_modules=ALL)),
    "excluded module": (False, dict(r=4, lora_alpha=8, target_modules=["q_proj"], exclude_modules=["model.layers.0.self_attn.q_proj"])),
}


def trained_in_peft():
    for name in ("qwen3 tied", "qwen2 float16", "llama 3.1"):
        with real.case(name):
            family, more = checkpoints.MODELS[name]
            folder = tiny.save(name.replace(" ", "-"), family, **dict(more))
            policy = checkpoints.tuned(folder, True)
            prompts = [tiny.ids(dice) for _ in range(3)]
            added = PeftModel.from_pretrained(tiny.opened(folder), policy / "adapter").eval()
            moved = max(abs(a - b) for ids in prompts for a, b in zip(tiny.scores(added, ids), tiny.scores(tiny.opened(folder), ids)))
            real.check(f"{name}: the adapter changes the base", moved > 1e-3, "more than 0.001", moved)
            with real.serving("--checkpoint", policy, "--prompt-logprobs") as address:
                tiny.compare(f"{name}, base and adapter in peft", added, address, prompts)
                tiny.compare(f"{name}, merged by peft", added.merge_and_unload(), address, prompts)
            with real.case(f"{name}: AutoPeftModel opens it"):
                alone = AutoPeftModelForCausalLM.from_pretrained(policy / "adapter", dtype=torch.float32).eval()
                worst = max(abs(a - b) for ids in prompts for a, b in zip(tiny.scores(alone, ids), tiny.scores(tiny.opened(policy), ids)))
                real.check(f"{name}: AutoPeftModel opens it", worst <= tiny.TOLERANCE, f"within {tiny.TOLERANCE}", worst)


def adapter(name, base, options):
    torch.manual_seed(3)
    made = get_peft_model(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), LoraConfig(task_type="CAUSAL_LM", **options)).eval()
    with torch.no_grad():
        for key, weight in made.named_parameters():
            if "lora_" in key or weight.requires_grad:
                weight.add_(torch.randn_like(weight) * 0.1)
    folder = pathlib.Path("adapter-" + "".join(c if c.isalnum() else "-" for c in name))
    made.save_pretrained(str(folder))
    return folder


def of_peft_in_serve():
    base = tiny.save("base", "qwen3", tie_word_embeddings=False)
    prompts = [tiny.ids(dice) for _ in range(2)]
    with real.serving("--checkpoint", base, "--max-adapters", "1") as address:
        for name, (plain, options) in KINDS.items():
            with real.case(name):
                folder = adapter(name, base, options)
                status, answer = tiny.post(address, "/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder.resolve())})
                if status != 200:
                    real.check(f"{name}: {'is taken' if plain else 'is refused by a sentence'}", not plain and 400 <= status < 500, "taken" if plain else "a refusal", answer)
                    continue
                theirs = PeftModel.from_pretrained(tiny.opened(base), folder).eval()
                for tokens in prompts:
                    code, sampled = tiny.post(address, "/v1/completions", {"model": name, "prompt": tokens, "max_tokens": 8, "temperature": 0, "logprobs": 0, "return_token_ids": True})
                    choice = sampled["choices"][0]
                    expected = tiny.scores(theirs, tokens + choice["token_ids"])[len(tokens) - 1 :]
                    worst = max(abs(a - b) for a, b in zip(expected, choice["logprobs"]["token_logprobs"], strict=True))
                    real.check(f"{name}: log-probabilities", worst <= tiny.TOLERANCE, f"within {tiny.TOLERANCE}", worst)
                    real.equal(f"{name}: greedy tokens", tiny.greedy(theirs, tokens, 8), choice["token_ids"])
                tiny.post(address, "/v1/unload_lora_adapter", {"lora_name": name})


for part in (trained_in_peft, of_peft_in_serve):
    with real.case(part.__name__):
        part()
