"""Makes the tiny checkpoints of src/test/resources/io/troupe/engine/djl/saved, as transformers saves them.

    python3 saved_checkpoints.py FOLDER

One model of each family with random weights, a byte-level tokenizer, a list of ends and two chat templates, and
in reference.json what transformers computes of it: log-probabilities of some ids, each after those before it.
llama has the scaling yarn, whose original context is outside of rope_parameters, and qwen3 leaves out the width of
its heads. Made with transformers 5.17.0, tokenizers 0.23.3 and PyTorch 2.13.0.
"""

import json
import os
import sys

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config

IDS = [5, 9, 2, 7, 1, 11, 3, 8, 40, 41, 42, 43]
SIZES = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, intermediate_size=12,
             vocab_size=268, max_position_embeddings=64, bos_token_id=0, eos_token_id=2)
SPECIAL = "extra_special_tokens" if int(transformers.__version__.split(".")[0]) >= 5 else "additional_special_tokens"
TURN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
ASK = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
MODELS = {
    "qwen3": (Qwen3Config, dict(tie_word_embeddings=True)),
    "qwen2": (Qwen2Config, dict(tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=5e5))),
    "llama": (LlamaConfig, dict(tie_word_embeddings=True, rope_parameters=dict(
        rope_type="yarn", rope_theta=100.0, factor=8.0, beta_fast=4.0, beta_slow=1.0))),
}


def tokenizer():
    bytes_only = Tokenizer(models.BPE())
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.train_from_iterator(["the cat and the hat"] * 9, trainers.BpeTrainer(
        vocab_size=264, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    whole = PreTrainedTokenizerFast(tokenizer_object=bytes_only, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                                    **{SPECIAL: ["<|im_start|>"]})
    whole.chat_template = {"default": TURN + ASK, "tool_use": "{{ tools | tojson }}" + TURN + ASK}
    return whole


def edited(folder, name):
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    if name == "llama":
        config["rope_parameters"].pop("original_max_position_embeddings", None)
        config["original_max_position_embeddings"] = 8
    if name == "qwen3":
        del config["head_dim"]
    with open(path, "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")


def main(target):
    for name, (kind, more) in MODELS.items():
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_config(kind(**SIZES, **more))
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(torch.randn_like(weight) * 0.4 + (weight.dim() == 1))
        model.generation_config.update(eos_token_id=[2, 0], do_sample=True, temperature=0.7)
        folder = os.path.join(target, name)
        model.to(torch.bfloat16).save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        edited(folder, name)
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        with torch.no_grad():
            scores = loaded(torch.tensor([IDS])).logits[0].log_softmax(-1)
        said = [round(scores[i - 1, IDS[i]].item(), 6) for i in range(1, len(IDS))]
        with open(os.path.join(folder, "reference.json"), "w") as file:
            json.dump({"transformers": transformers.__version__, "ids": IDS, "log_probs": said}, file)
            file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
