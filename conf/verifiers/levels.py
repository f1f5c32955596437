"""A verifier of one's own for troupe that reads a column beside the answer: standard library only.

It reads a question from each line of its standard input and writes one reply, a line with the question's seq.
docs/verifiers.md has the protocol.
"""
import json
import sys


def reward(completion, answer, level, **other_columns):
    """A right answer is worth the level of its row, 1 or 2. A reward function of TRL has such arguments too."""
    return float(level) if completion.strip() == str(answer) else 0.0


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    columns = {**question["row"], "prompt": question["prompt"], "completion": question["completion"]}
    print(json.dumps({"seq": question["seq"], "reward": reward(**columns)}), flush=True)
