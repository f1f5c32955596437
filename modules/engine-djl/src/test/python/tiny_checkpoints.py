"""Makes tiny checkpoints with random weights in Hugging Face's layout, and their logits.

    python3 tiny_checkpoints.py OUT [NAME...]

Needs PyTorch, and neither transformers nor safetensors. The decoder below is written from the
architectures' definitions in plain operations, in float32 on the CPU, and knows nothing of the Java
engine: it is the reference of ParityTest, whose files are this script's output. Each directory OUT/NAME
gets config.json, generation_config.json, model.safetensors (or shards), tokenizer.json,
tokenizer_config.json, logits.bin (float32, [tokens, vocabulary], row-major, little-endian) and
reference.json (the tokens, and the version of PyTorch that computed).
"""

import json
import math
import os
import struct
import sys

import torch

VOCABULARY = 288
TOKENS = 40
SHARD_BYTES = 16_000

BASE = dict(
    hidden_act="silu", hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-6, rope_theta=10000.0,
    rope_scaling=None, tie_word_embeddings=False, vocab_size=VOCABULARY, torch_dtype="float32",
    bos_token_id=None, eos_token_id=267)

MODELS = {
    "qwen3-tied": dict(BASE, architectures=["Qwen3ForCausalLM"], model_type="qwen3", head_dim=8,
                       tie_word_embeddings=True, attention_bias=False, use_sliding_window=False),
    "qwen3-untied-yarn": dict(
        BASE, architectures=["Qwen3ForCausalLM"], model_type="qwen3", head_dim=8, rope_theta=1000.0,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)),
    "qwen2-bfloat16": dict(
        BASE, architectures=["Qwen2ForCausalLM"], model_type="qwen2", torch_dtype="bfloat16",
        tie_word_embeddings=True, use_sliding_window=False, sliding_window=4096, max_window_layers=2),
    "llama3-shards": dict(
        BASE, architectures=["LlamaForCausalLM"], model_type="llama", rope_theta=500.0, mlp_bias=False,
        attention_bias=False, num_key_value_heads=1, rms_norm_eps=1e-5,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=16)),
    "llama-linear-float16": dict(
        BASE, architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="float16",
        tie_word_embeddings=True, rope_scaling=dict(type="linear", factor=2.0)),
}
DTYPES = {"float32": ("F32", torch.float32), "bfloat16": ("BF16", torch.bfloat16), "float16": ("F16", torch.float16)}


def head_dim(c):
    return c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]


def parameters(c):
    """Names and shapes."""
    d, h, k, n = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"], head_dim(c)
    yield "model.embed_tokens.weight", (c["vocab_size"], d)
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", (d,)
        for name, width in (("q", h * n), ("k", k * n), ("v", k * n)):
            yield f"{layer}self_attn.{name}_proj.weight", (width, d)
            if c["model_type"] == "qwen2":
                yield f"{layer}self_attn.{name}_proj.bias", (width,)
        if c["model_type"] == "qwen3":
            yield layer + "self_attn.q_norm.weight", (n,)
            yield layer + "self_attn.k_norm.weight", (n,)
        yield layer + "self_attn.o_proj.weight", (d, h * n)
        yield layer + "post_attention_layernorm.weight", (d,)
        yield layer + "mlp.gate_proj.weight", (c["intermediate_size"], d)
        yield layer + "mlp.up_proj.weight", (c["intermediate_size"], d)
        yield layer + "mlp.down_proj.weight", (d, c["intermediate_size"])
    yield "model.norm.weight", (d,)
    if not c["tie_word_embeddings"]:
        yield "lm_head.weight", (c["vocab_size"], d)


def random_weights(c, generator):
    weights = {}
    dtype = DTYPES[c["torch_dtype"]][1]
    for name, shape in parameters(c):
        x = torch.randn(shape, generator=generator)
        if name.endswith("norm.weight"):
            x = 1 + 0.2 * x
        elif name == "model.embed_tokens.weight":
            pass
        else:
            x = 0.25 * x
        weights[name] = x.to(dtype)
    return weights


def rotations(c):
    """Angles a position of each pair of coordinates, and the magnitude of cosines and sines."""
    n, theta, s = head_dim(c), c["rope_theta"], c["rope_scaling"] or {}
    f = theta ** (-torch.arange(0, n, 2, dtype=torch.float64) / n)
    kind = s.get("rope_type", s.get("type", "default"))
    if kind == "default":
        return f, 1.0
    if kind == "linear":
        return f / s["factor"], 1.0
    original = s["original_max_position_embeddings"]
    if kind == "llama3":
        wavelength = 2 * math.pi / f
        low, high = original / s["low_freq_factor"], original / s["high_freq_factor"]
        smooth = (original / wavelength - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
        mixed = (1 - smooth) * f / s["factor"] + smooth * f
        return torch.where(wavelength < high, f, torch.where(wavelength > low, f / s["factor"], mixed)), 1.0
    if kind == "yarn":
        def pair(turns):
            return n * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))
        low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), n - 1)
        high = high + 0.001 if low == high else high
        ramp = ((torch.arange(n // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
        return f / s["factor"] * ramp + f * (1 - ramp), 0.1 * math.log(s["factor"]) + 1
    raise ValueError(kind)


def rms(x, weight, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def logits(c, stored, ids):
    """Logits after each token of one sequence."""
    w = {name: x.float() for name, x in stored.items()}
    h, k, n, eps = c["num_attention_heads"], c["num_key_value_heads"], head_dim(c), c["rms_norm_eps"]
    frequencies, magnitude = rotations(c)
    angles = torch.arange(len(ids), dtype=torch.float64)[:, None] * frequencies
    cos, sin = (magnitude * angles.cos()).float(), (magnitude * angles.sin()).float()

    def rotate(x):  # [tokens, heads, n]
        a, b = x[..., :n // 2], x[..., n // 2:]
        return torch.cat([a * cos[:, None] - b * sin[:, None], b * cos[:, None] + a * sin[:, None]], -1)

    x = w["model.embed_tokens.weight"][torch.tensor(ids)]
    ahead = torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1)
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        y = rms(x, w[layer + "input_layernorm.weight"], eps)

        def project(name, heads):
            z = y @ w[f"{layer}self_attn.{name}_proj.weight"].T
            z = z + w.get(f"{layer}self_attn.{name}_proj.bias", torch.zeros(()))
            z = z.view(len(ids), heads, n)
            norm = w.get(f"{layer}self_attn.{name}_norm.weight")
            return z if norm is None else rms(z, norm, eps)

        q, key, v = rotate(project("q", h)), rotate(project("k", k)), project("v", k)
        gathered = []
        for head in range(h):
            shared = head // (h // k)
            scores = q[:, head] @ key[:, shared].T / math.sqrt(n)
            gathered.append(scores.masked_fill(ahead, -math.inf).softmax(-1) @ v[:, shared])
        x = x + torch.cat(gathered, -1) @ w[layer + "self_attn.o_proj.weight"].T
        y = rms(x, w[layer + "post_attention_layernorm.weight"], eps)
        gate, up = y @ w[layer + "mlp.gate_proj.weight"].T, y @ w[layer + "mlp.up_proj.weight"].T
        x = x + (gate * torch.sigmoid(gate) * up) @ w[layer + "mlp.down_proj.weight"].T
    x = rms(x, w["model.norm.weight"], eps)
    return x @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T


def write_safetensors(path, weights):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, x in weights.items():
        size = x.numel() * x.element_size()
        kind = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}[x.dtype]
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for x in weights.values():
            file.write(bytes(x.contiguous().view(torch.uint8).flatten().tolist()))


def write_weights(directory, weights, sharded):
    if not sharded:
        write_safetensors(f"{directory}/model.safetensors", weights)
        return
    shards, size = [{}], 0
    for name, x in weights.items():
        bytes_ = x.numel() * x.element_size()
        if shards[-1] and size + bytes_ > SHARD_BYTES:
            shards.append({})
            size = 0
        shards[-1][name] = x
        size += bytes_
    places = {}
    for i, shard in enumerate(shards):
        name = f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
        write_safetensors(f"{directory}/{name}", shard)
        places.update({tensor: name for tensor in shard})
    total = sum(x.numel() * x.element_size() for x in weights.values())
    with open(f"{directory}/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": places}, file, indent=1)


def byte_characters():
    """GPT-2's character of each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    table = {b: chr(b) for b in printable}
    table.update({b: chr(256 + i) for i, b in enumerate(others)})
    return table


def tokenizer():
    """Byte-level pieces, a few merges, and the special tokens of chat models."""
    table = byte_characters()
    vocab = {table[b]: b for b in range(256)}
    merges = [("t", "h"), ("th", "e"), ("i", "n"), ("Ġ", "the"), ("e", "r"), ("a", "n"), ("Ã", "©"), ("1", "2"),
              ("Ġ", "a"), ("o", "n")]
    for a, b in merges:
        vocab[a + b] = len(vocab)
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    first = len(vocab)  # ids from 270 on have no text, as in models whose embedding is padded
    added = [dict(id=first + i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
             for i, t in enumerate(special)]
    added.append(dict(id=first + 3, content="<think>", single_word=False, lstrip=False, rstrip=False, normalized=False,
                      special=False))
    return dict(
        version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=dict(type="NFC"),
        pre_tokenizer=dict(type="ByteLevelAlphabet", add_prefix_space=False, trim_offsets=False, use_regex=True),
        post_processor=dict(type="ByteLevelAlphabet", add_prefix_space=False, trim_offsets=False, use_regex=True),
        decoder=dict(type="ByteLevelAlphabet", add_prefix_space=False, trim_offsets=False, use_regex=True),
        model=dict(type="BPE", dropout=None, unk_token=None, continuing_subword_prefix="", end_of_word_suffix="",
                   fuse_unk=False, byte_fallback=False, vocab=vocab, merges=[f"{a} {b}" for a, b in merges]))


CHAT = ("{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
        "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}")


def make(out, name):
    c = MODELS[name]
    directory = f"{out}/{name}"
    os.makedirs(directory, exist_ok=True)
    generator = torch.Generator().manual_seed(sorted(MODELS).index(name) + 1)
    weights = random_weights(c, generator)
    ids = torch.randint(0, VOCABULARY, (TOKENS,), generator=generator).tolist()
    write_weights(directory, weights, name.endswith("shards"))
    files = {
        "config.json": c,
        "generation_config.json": {"eos_token_id": [268, 266]},
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {"eos_token": "<|im_end|>", "chat_template": CHAT},
        "reference.json": {"torch": torch.__version__, "ids": ids},
    }
    for file_name, content in files.items():
        with open(f"{directory}/{file_name}", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1 if file_name == "config.json" else None, ensure_ascii=False)
            file.write("\n")
    with torch.no_grad(), open(f"{directory}/logits.bin", "wb") as file:
        file.write(struct.pack(f"<{TOKENS * VOCABULARY}f", *logits(c, weights, ids).flatten().tolist()))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for chosen in sys.argv[2:] or MODELS:
        make(sys.argv[1], chosen)
