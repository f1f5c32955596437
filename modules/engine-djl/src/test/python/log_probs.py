"""Prints the log-probabilities that transformers gives the tokens of a checkpoint: log_probs.py FOLDER ID ID …"""
import sys
import torch
import transformers

torch.set_num_threads(1)
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
ids = torch.tensor([[int(word) for word in sys.argv[2:]]])
with torch.no_grad():
    log_probs = torch.log_softmax(model(ids).logits[0, :-1].double(), -1)
for row, token in zip(log_probs, ids[0, 1:]):
    print("%.9f" % row[token].item())
