"""Judges by parity, so that most groups teach something; crashes and hangs now and then."""

import json
import random
import sys
import time

print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    dice = random.random()
    if dice < 0.002:
        sys.exit("crashed on purpose")
    if dice < 0.0022:
        time.sleep(60)
    odd = sum(map(ord, asked["completion"])) % 2
    print(json.dumps({"seq": asked["seq"], "reward": float(odd)}), flush=True)
