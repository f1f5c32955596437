"""Prints what transformers makes of a checkpoint, a line each.

    python3 opened.py FOLDER ID…

The ids of a text, the special tokens, the prompts of the chat templates by name, the settings of generation, the type
of the weights that the configuration names, and the log-probability of each id after those before it.
"""

import json
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig

TEXT = "<|im_start|>the cat<|im_end|>"


def main(folder, ids):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    print(tokenizer(TEXT).input_ids, sorted(tokenizer.all_special_tokens), tokenizer.eos_token, tokenizer.pad_token)
    for name in sorted(tokenizer.chat_template):
        print(name, repr(tokenizer.apply_chat_template(
            [{"role": "user", "content": "the hat"}], chat_template=name, tools=[{"name": "add"}], tokenize=False,
            add_generation_prompt=True)))
    settings = GenerationConfig.from_pretrained(folder).to_diff_dict()
    print(json.dumps({key: settings.get(key) for key in ("eos_token_id", "do_sample", "temperature")}))
    dtype = AutoConfig.from_pretrained(folder).dtype
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    stored = {str(weight.dtype) for weight in AutoModelForCausalLM.from_pretrained(folder, dtype="auto").parameters()}
    print(stored == {str(dtype)})
    with torch.no_grad():
        scores = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    for i in range(1, len(ids)):
        print(scores[i - 1, ids[i]].item())


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]])
