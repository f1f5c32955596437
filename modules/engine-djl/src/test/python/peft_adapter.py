"""Checks that a checkpoint with adapters says the same as its merged model.

    python3 peft_adapter.py CHECKPOINT

CHECKPOINT is what a run with policy.lora saved: config.json, model.safetensors (merged), trainer/base.safetensors
(frozen) and adapter/ in PEFT's layout. Needs PyTorch, and neither peft, transformers nor safetensors: the
adapter is read as PEFT documents it, and knows nothing of the Java engine.

  adapter_config.json   r, lora_alpha, target_modules: names of modules, or ends of their names after a dot
  adapter_model         base_model.model.MODULE.lora_A.weight [r, in] and lora_B.weight [out, r]
  what they mean        MODULE(x) = x W^T + lora_alpha / r * x A^T B^T; with use_rslora / sqrt(r) instead

Prints the largest difference of weights and of logits, and ends with 1 if one exceeds 1e-5.
"""

import json
import os
import struct
import sys

import torch

import tiny_checkpoints

TOLERANCE = 1e-5


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            assert entry["dtype"] == "F32", (name, entry["dtype"])
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).view(entry["shape"])
    return tensors


def adapted(base, folder):
    """The base with what PEFT would add to it; every tensor of the adapter must have its place."""
    with open(os.path.join(folder, "adapter_config.json")) as file:
        config = json.load(file)
    assert config["peft_type"] == "LORA" and config["bias"] == "none" and not config["fan_in_fan_out"], config
    left = read(os.path.join(folder, "adapter_model.safetensors"))
    scale = config["lora_alpha"] / (config["r"] ** 0.5 if config["use_rslora"] else config["r"])
    weights = dict(base)
    for name, w in base.items():
        module = name.removesuffix(".weight")
        if any(module == target or module.endswith("." + target) for target in config["target_modules"]):
            a = left.pop(f"base_model.model.{module}.lora_A.weight")
            b = left.pop(f"base_model.model.{module}.lora_B.weight")
            assert a.shape == (config["r"], w.shape[1]) and b.shape == (w.shape[0], config["r"]), name
            weights[name] = (w.double() + scale * (b.double() @ a.double())).float()
    assert not left, f"tensors of no target: {sorted(left)}"
    return weights


def main(checkpoint):
    with open(os.path.join(checkpoint, "config.json")) as file:
        config = json.load(file)
    config.setdefault("rope_scaling", None)
    base = read(os.path.join(checkpoint, "trainer", "base.safetensors"))
    merged = read(os.path.join(checkpoint, "model.safetensors"))
    ours = adapted(base, os.path.join(checkpoint, "adapter"))
    assert ours.keys() == merged.keys(), sorted(ours.keys() ^ merged.keys())
    ids = [i * 7 % config["vocab_size"] for i in range(min(config["max_position_embeddings"], 32))]
    said = [tiny_checkpoints.logits(config, weights, ids) for weights in (base, ours, merged)]
    weights = max((ours[name] - merged[name]).abs().max().item() for name in ours)
    logits = (said[1] - said[2]).abs().max().item()
    print(f"adapter moves logits by {(said[1] - said[0]).abs().max().item():.3g}; merged against adapter: "
          f"weights {weights:.3g}, logits {logits:.3g} (PyTorch {torch.__version__})")
    return 0 if max(weights, logits) <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
