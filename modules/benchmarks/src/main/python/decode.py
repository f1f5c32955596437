"""Sampling with a preallocated KV cache, as one static batch."""

import torch


def draw(logits):
    """Tokens [B] and their log-probabilities at temperature 1."""
    logp = torch.log_softmax(logits, -1)
    # The exponential race: an exact draw from softmax without torch.multinomial's checks.
    token = (logp - torch.empty_like(logp).exponential_().log()).argmax(-1)
    return token, logp.gather(-1, token[:, None])[:, 0]


@torch.inference_mode()
def decode(model, prompts, each, tokens):
    """Draws `each` completions of `tokens` tokens for each of the prompts [P, T].

    The prompts are read once each. Returns tokens and log-probabilities, [P * each, tokens].
    """
    P, T = prompts.shape
    B, c = P * each, model.c
    caches = [
        tuple(torch.empty(B, c["kv_heads"], T + tokens, c["head_dim"]) for _ in range(2)) for _ in model.layers
    ]
    if each == 1:
        x = model.hidden(prompts, caches)
    else:
        small = [tuple(torch.empty(P, c["kv_heads"], T, c["head_dim"]) for _ in range(2)) for _ in model.layers]
        x = model.hidden(prompts, small)
        for mine, read in zip(caches, small):
            for k in range(2):
                mine[k][:, :, :T] = read[k].repeat_interleave(each, 0)
    logits = model.logits(x[:, -1]).repeat_interleave(each, 0)
    drawn, scores = torch.empty(tokens, B, dtype=torch.int64), torch.empty(tokens, B)
    for t in range(tokens):
        if t > 0:
            logits = model.logits(model.hidden(drawn[t - 1][:, None], caches, T + t - 1)[:, 0])
        drawn[t], scores[t] = draw(logits)
    return drawn.T, scores.T
