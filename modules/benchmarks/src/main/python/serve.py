"""The PyTorch side of `troupe bench engine`, `trainer` and `gpu`: one JSON request a line on stdin, one answer on stdout.

It measures its own bursts, so that neither start-up nor the pipe counts.
"""

import json
import resource
import sys
import time

import torch

import decode
import model
import train


class Bench:
    def __init__(self):
        self.model = None
        self.training = None
        self.fastest = {}
        self.flat = None

    def hello(self, threads):
        torch.set_num_threads(threads)
        return {"torch": torch.__version__, "threads": torch.get_num_threads()}

    def load(self, weights, sizes):
        self.model = model.Decoder.load(sizes, weights)
        return {}

    def log_probs(self, ids):
        """Log-probabilities of every token but the first, to check that both sides hold one policy."""
        with torch.inference_mode():
            ids = torch.tensor([ids])
            logp = torch.log_softmax(self.model.logits(self.model.hidden(ids)), -1)
            return {"log_probs": logp[0, :-1].gather(1, ids[0, 1:, None])[:, 0].tolist()}

    def decode(self, prompts, each, batches):
        """Static batches one after the other; each is [first prompt, prompts, tokens to decode].

        The first call with these sizes, which the caller does not count, chooses the faster form of attention.
        """
        prompts = torch.tensor(prompts)
        sizes = json.dumps([each, batches])
        if sizes not in self.fastest:
            times = {form: self.burst(prompts, each, batches, form) for form in (False, True, False, True)}
            self.fastest[sizes] = min(times, key=times.get)
        form = self.fastest[sizes]
        return {"seconds": self.burst(prompts, each, batches, form), "attention": "grouped" if form else "reshaped"}

    def burst(self, prompts, each, batches, grouped):
        model.Attention.grouped = grouped
        start = time.perf_counter()
        for first, count, tokens in batches:
            drawn, scores = decode.decode(self.model, prompts[first : first + count], each, tokens)
            drawn.tolist(), scores.tolist()
        return time.perf_counter() - start

    def trainer(self, **batch):
        self.training = train.Trainer(self.model, **batch)
        return {}

    def train(self, steps):
        return self.training.steps(steps) | self.memory()

    def adamw(self, parameters, steps):
        if self.flat is None:
            self.flat = train.Flat(parameters)
        return self.flat.steps(steps)

    def gpu(self, call, **arguments):
        import gpu

        return gpu.call(call, arguments)

    def memory(self):
        return {"peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def main():
    bench = Bench()
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(bench, request.pop("do"))(**request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
