"""GRPO training steps in plain PyTorch, eager mode: what a Python programmer would write."""

import time

import torch


class Trainer:
    def __init__(self, model, batch, optimizer, clip_low, clip_high):
        """batch: ids [B, T]; behaviour log-probabilities and loss weights [B, T - 1]; advantages [B]."""
        self.model = model
        self.ids = torch.tensor(batch["ids"])
        self.behaviour = torch.tensor(batch["behaviour"], dtype=torch.float32)
        self.weight = torch.tensor(batch["weight"], dtype=torch.float32)
        self.advantage = torch.tensor(batch["advantage"], dtype=torch.float32)[:, None]
        self.low, self.high = 1 - clip_low, 1 + clip_high
        self.parameters = list(model.parameters())
        self.clip = optimizer["clip"]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": [p for p in self.parameters if p.dim() > 1], "weight_decay": optimizer["weight_decay"]},
                {"params": [p for p in self.parameters if p.dim() == 1], "weight_decay": 0.0},
            ],
            lr=optimizer["learning_rate"],
            betas=(optimizer["beta1"], optimizer["beta2"]),
            eps=optimizer["epsilon"],
            fused=True,
        )

    def loss(self):
        logits = self.model.logits(self.model.hidden(self.ids[:, :-1]))
        logp = torch.log_softmax(logits, -1).gather(-1, self.ids[:, 1:, None])[..., 0]
        ratio = torch.exp(logp - self.behaviour)
        clipped = torch.clamp(ratio, self.low, self.high)
        surrogate = torch.minimum(ratio * self.advantage, clipped * self.advantage)
        return -(surrogate * self.weight).sum()

    def step(self):
        loss = self.loss()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item(), norm.item()

    def steps(self, count):
        """Seconds, losses and gradient norms of some steps; with one thread, of processor time."""
        clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
        seconds, losses, norms = [], [], []
        for _ in range(count):
            start = clock()
            loss, norm = self.step()
            seconds.append(clock() - start)
            losses.append(loss)
            norms.append(norm)
        return {"seconds": seconds, "losses": losses, "norms": norms}


class Flat:
    """PyTorch's fused AdamW on one flat array, with a gradient that is clipped."""

    def __init__(self, parameters):
        self.parameter = torch.nn.Parameter(torch.zeros(parameters))
        self.parameter.grad = torch.zeros(parameters)
        self.optimizer = torch.optim.AdamW(
            [self.parameter], lr=1e-4, betas=(0.9, 0.95), eps=1e-2, weight_decay=0.01, fused=True
        )

    def steps(self, count):
        """The least seconds of a step: AdamW alone, and with norm and clipping before it.

        Of one thread its processor time, which other work on the machine does not add to.
        """
        clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
        update, whole = [], []
        for _ in range(count):
            start = clock()
            torch.nn.utils.clip_grad_norm_([self.parameter], 1.0)
            middle = clock()
            self.optimizer.step()
            end = clock()
            update.append(end - middle)
            whole.append(end - start)
        return {"update": min(update), "whole": min(whole)}
