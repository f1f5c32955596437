"""The decoder of io.troupe.engine.djl in plain PyTorch: what a Python programmer would write.

Qwen3's architecture: grouped-query attention with normed heads and rotary positions, SwiGLU,
RMSNorm before each block. Weights come from a safetensors file with Hugging Face's names.
"""

import json
import struct

import torch
import torch.nn.functional as F
from torch import nn


def read_safetensors(path):
    """Tensors of a float32 safetensors file by name."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = torch.frombuffer(content, dtype=torch.float32, count=(end - begin) // 4, offset=8 + length + begin)
            tensors[name] = data.view(entry["shape"]).clone()
    return tensors


class Norm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.shape = (size,)
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, self.shape, self.weight, self.eps)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Attention(nn.Module):
    # Whether a single query a head goes through PyTorch's grouped form; which one is faster depends on sizes.
    grouped = True

    def __init__(self, c):
        super().__init__()
        self.heads, self.kv_heads, self.d = c["heads"], c["kv_heads"], c["head_dim"]
        self.q_proj = nn.Linear(c["hidden"], self.heads * self.d, bias=False)
        self.k_proj = nn.Linear(c["hidden"], self.kv_heads * self.d, bias=False)
        self.v_proj = nn.Linear(c["hidden"], self.kv_heads * self.d, bias=False)
        self.o_proj = nn.Linear(self.heads * self.d, c["hidden"], bias=False)
        self.q_norm = Norm(self.d, c["eps"])
        self.k_norm = Norm(self.d, c["eps"])

    def forward(self, x, cos, sin, cache=None, position=0):
        """x [B, T, hidden]; a cache is (keys, values), each [B, kv_heads, room, d], written at position."""
        B, T, _ = x.shape
        q = rotate(self.q_norm(self.q_proj(x).view(B, T, self.heads, self.d)), cos, sin).transpose(1, 2)
        k = rotate(self.k_norm(self.k_proj(x).view(B, T, self.kv_heads, self.d)), cos, sin).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.kv_heads, self.d).transpose(1, 2)
        if cache is not None:
            cache[0][:, :, position : position + T] = k
            cache[1][:, :, position : position + T] = v
        if T == 1 and not self.grouped:
            # The queries of one kv head are as many query positions that all see the same keys.
            q = q.view(B, self.kv_heads, self.heads // self.kv_heads, self.d)
            k = cache[0][:, :, : position + 1]
            v = cache[1][:, :, : position + 1]
            a = F.scaled_dot_product_attention(q, k, v).reshape(B, 1, self.heads * self.d)
        else:
            if T == 1:
                k, v = cache[0][:, :, : position + 1], cache[1][:, :, : position + 1]
            a = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1, enable_gqa=True)
            a = a.transpose(1, 2).reshape(B, T, self.heads * self.d)
        return self.o_proj(a)


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c["hidden"], c["feed_forward"], bias=False)
        self.up_proj = nn.Linear(c["hidden"], c["feed_forward"], bias=False)
        self.down_proj = nn.Linear(c["feed_forward"], c["hidden"], bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = Norm(c["hidden"], c["eps"])
        self.self_attn = Attention(c)
        self.post_attention_layernorm = Norm(c["hidden"], c["eps"])
        self.mlp = Mlp(c)

    def forward(self, x, cos, sin, cache=None, position=0):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, cache, position)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """The whole decoder; c is a dict of sizes, its output matrix is the embedding."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c["vocabulary"], c["hidden"])
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["layers"]))
        self.norm = Norm(c["hidden"], c["eps"])
        frequency = c["rope_theta"] ** (-torch.arange(0, c["head_dim"], 2, dtype=torch.float64) / c["head_dim"])
        angle = torch.arange(c["context"], dtype=torch.float64)[:, None] * frequency
        self.register_buffer("cos", angle.cos().float()[:, None], persistent=False)
        self.register_buffer("sin", angle.sin().float()[:, None], persistent=False)

    @staticmethod
    def load(c, path):
        decoder = Decoder(c)
        tensors = {name.removeprefix("model."): t for name, t in read_safetensors(path).items()}
        decoder.load_state_dict(tensors, strict=True)
        return decoder

    def hidden(self, ids, caches=None, position=0):
        """Normed hidden states [B, T, hidden] of ids [B, T] that begin at position."""
        T = ids.shape[1]
        cos, sin = self.cos[position : position + T], self.sin[position : position + T]
        x = self.embed_tokens(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, None if caches is None else caches[i], position)
        return self.norm(x)

    def logits(self, x):
        return F.linear(x, self.embed_tokens.weight)
