"""The PyTorch side of `troupe bench gpu`: what a Python programmer would write for one GPU, in eager mode."""

import resource
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import model

ROWS = 2048  # positions whose logits are held at a time
STD = 0.02


class Clock:
    """Times work on a device, not its launch."""

    def __init__(self, device):
        self.device = device
        self.start = self.now()

    def now(self):
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def seconds(self):
        return self.now() - self.start


def used(device):
    """Bytes in use on the device by all processes; of the CPU, the most that this process had."""
    if device == "cuda":
        free, total = torch.cuda.mem_get_info()
        return total - free
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class Adapted(nn.Module):
    """A frozen matrix with a low-rank adapter (LoRA)."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear
        self.a = nn.Parameter(torch.empty(rank, linear.in_features).normal_(0, STD))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + F.linear(F.linear(x, self.a), self.b) * self.scale


class Step:
    """A training step with bfloat16 weights, float32 masters, recomputed layers and logits in parts."""

    def __init__(self, device, sizes, sequences, length, micro_batches, kind, dtype=torch.bfloat16):
        torch.manual_seed(2026)
        self.device, self.kind = device, kind
        torch.set_default_dtype(dtype)
        with torch.device(device):
            self.model = model.Decoder(sizes)
            for p in self.model.parameters():
                if p.dim() > 1:
                    nn.init.normal_(p, 0, STD)
            if kind == "ADAPTED":
                self.model.requires_grad_(False)
                for layer in self.model.layers:
                    for module in (layer.self_attn, layer.mlp):
                        for name, child in list(module.named_children()):
                            if isinstance(child, nn.Linear):
                                setattr(module, name, Adapted(child, 16, 32))
            shape = (micro_batches, sequences, length)
            self.ids = torch.randint(2, sizes["vocabulary"], shape)
            self.behaviour = torch.full(shape[:2] + (length - 1,), -float(torch.tensor(sizes["vocabulary"]).log()))
            self.advantage = torch.randn(shape[:2]).float()[..., None]
        torch.set_default_dtype(torch.float32)
        self.cos, self.sin = self.model.cos.to(dtype), self.model.sin.to(dtype)
        self.weights = [p for p in self.model.parameters() if p.requires_grad]
        self.masters = [p.detach().float() for p in self.weights]
        self.optimizer = torch.optim.AdamW(
            self.masters, lr=1e-6, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01, fused=True
        )

    def part(self, x, next_ids):
        logits = self.model.logits(x).float()
        return torch.log_softmax(logits, -1).gather(-1, next_ids[:, None])[:, 0]

    def log_probs(self, ids):
        x = self.model.embed_tokens(ids[:, :-1])
        if self.kind == "ADAPTED":
            x.requires_grad_(True)
        T = x.shape[1]
        for layer in self.model.layers:
            x = checkpoint(layer, x, self.cos[:T], self.sin[:T], use_reentrant=False)
        x, after = self.model.norm(x).flatten(0, 1), ids[:, 1:].flatten()
        parts = [
            checkpoint(self.part, x[i : i + ROWS], after[i : i + ROWS], use_reentrant=False)
            for i in range(0, x.shape[0], ROWS)
        ]
        return torch.cat(parts).view(ids.shape[0], T)

    def loss(self, i):
        logp = self.log_probs(self.ids[i])
        count = self.ids.shape[0] * logp.numel()
        if self.kind == "SUPERVISED":
            return -logp.sum() / count
        ratio = torch.exp(logp - self.behaviour[i].float())
        clipped = torch.clamp(ratio, 0.8, 1.28)
        return -torch.minimum(ratio * self.advantage[i], clipped * self.advantage[i]).sum() / count

    def step(self):
        total = 0.0
        for i in range(self.ids.shape[0]):
            loss = self.loss(i)
            loss.backward()
            total += loss.detach()
            for master, weight in zip(self.masters, self.weights):
                gradient = weight.grad.float()
                master.grad = gradient if master.grad is None else master.grad.add_(gradient)
                weight.grad = None
        norm = torch.nn.utils.clip_grad_norm_(self.masters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.masters)
        return float(total), float(norm)


class Gpu:
    """One method a row; every answer has the seconds of one repetition."""

    def machine(self, device):
        if device == "cuda" and not torch.cuda.is_available():
            return {"pytorch": torch.__version__, "refusal": "torch.cuda.is_available() is False"}
        size = 8192 if device == "cuda" else 512
        a, b = (torch.randn(size, size, device=device).bfloat16() for _ in range(2))
        for _ in range(3):
            a @ b
        clock = Clock(device)
        for _ in range(10):
            a @ b
        seconds = clock.seconds() / 10
        answer = {"pytorch": torch.__version__, "operations": 2 * size**3 / seconds}
        if device == "cuda":
            p = torch.cuda.get_device_properties(0)
            answer |= {"name": p.name, "memory": p.total_memory, "devices": torch.cuda.device_count()}
        return answer

    def train(self, device, sizes, sequences, length, micro_batches, kind, warm_up, steps):
        before = used(device) if device == "cuda" else 0
        step = Step(device, sizes, sequences, length, micro_batches, kind)
        for _ in range(warm_up):
            step.step()
        if device == "cuda":
            torch.cuda.empty_cache()
        clock = Clock(device)
        for _ in range(steps):
            loss, norm = step.step()
        seconds = clock.seconds() / steps
        return {"seconds": seconds, "loss": loss, "norm": norm, "bytes": used(device) - before}

    def same(self, device, weights, sizes, batch, optimizer, clip_low, clip_high, steps):
        """Losses and norms of steps in float32 from given weights on a given batch."""
        import train

        decoder = model.Decoder.load(sizes, weights).to(device)
        trainer = train.Trainer(decoder, batch, optimizer, clip_low, clip_high)
        for name in ("ids", "behaviour", "weight", "advantage"):
            setattr(trainer, name, getattr(trainer, name).to(device))
        return trainer.steps(steps)

    def adamw(self, device, parameters, steps):
        p, g, m, v = (torch.zeros(parameters, device=device) for _ in range(4))
        t = torch.tensor(1.0, device=device)

        def step():
            torch._fused_adamw_(
                [p], [g], [m], [v], [], [t], lr=1e-6, beta1=0.9, beta2=0.95, weight_decay=0.01, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip

        step()
        clock = Clock(device)
        for _ in range(steps):
            step()
        return {"seconds": clock.seconds() / steps}

    def copies(self, device, bytes, rounds):
        """Gigabytes a second to the device and back, of pageable and pinned memory."""
        there = torch.zeros(bytes, dtype=torch.uint8, device=device)
        answer = {}
        for kind in ("pageable", "pinned"):
            here = torch.ones(bytes, dtype=torch.uint8, pin_memory=kind == "pinned" and device == "cuda")
            for name, target, source in (("to_device", there, here), ("to_host", here, there)):
                target.copy_(source, non_blocking=kind == "pinned")
                clock = Clock(device)
                for _ in range(rounds):
                    target.copy_(source, non_blocking=kind == "pinned")
                answer[kind + "_" + name] = bytes * rounds / clock.seconds() / 1e9
        return answer

    def publish(self, device, sizes):
        """Seconds of a copy of all weights in bfloat16 into the host's memory."""
        torch.set_default_dtype(torch.bfloat16)
        with torch.device(device):
            decoder = model.Decoder(sizes)
        torch.set_default_dtype(torch.float32)
        for _ in range(2):  # the first warms up
            clock = Clock(device)
            copies = {name: p.detach().to("cpu", copy=True) for name, p in decoder.named_parameters()}
            seconds = clock.seconds()
        return {"seconds": seconds, "tensors": len(copies)}


def call(method, arguments):
    return getattr(Gpu(), method)(**arguments)
