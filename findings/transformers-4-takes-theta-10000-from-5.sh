#!/usr/bin/env bash
# A config.json that transformers 5.17.0 saves has the base of its rotary positions in
# `rope_parameters` alone. transformers 4.57.6 opens it without an error or a warning about it, keeps
# `rope_parameters` as an attribute that nothing reads, and computes with its default, 10,000.
# Seen on Python 3.12: saved 1000000.0, opened as 10000.0. Writing `rope_theta` beside it is read by both.
# Exits with 0 while it is so, and with 1 when it has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv five
python3 -m venv four
five/bin/pip install -q transformers==5.17.0
four/bin/pip install -q transformers==4.57.6
five/bin/python - <<'PY'
from transformers import Qwen3Config

config = Qwen3Config(hidden_size=32, num_attention_heads=2, num_key_value_heads=1, head_dim=16)
config.rope_parameters = {"rope_type": "default", "rope_theta": 1e6}
config.save_pretrained("policy")
PY
four/bin/python - <<'PY'
import json

from transformers import AutoConfig

saved = json.load(open("policy/config.json"))
opened = AutoConfig.from_pretrained("policy")
print("saved", saved["rope_parameters"]["rope_theta"], "opened", opened.rope_theta)
as_seen = "rope_theta" not in saved and opened.rope_theta == 10000.0
raise SystemExit(not as_seen)
PY
