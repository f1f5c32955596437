#!/usr/bin/env bash
# tokenizers 0.23.3: UnigramTrainer makes another vocabulary of the same corpus in each process. The
# pieces and their scores are the same, those of equal score are in another order, so ids differ.
# BpeTrainer makes the same each time. Record such a tokenizer, do not train it again.
# Seen on Python 3.12: 5 runs, more than one digest for Unigram, one for BPE.
# Exits with 0 while it is so, and with 1 when it has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q tokenizers==0.23.3
for kind in Unigram BPE; do
  for _ in 1 2 3 4 5; do
    venv/bin/python - $kind <<'PY'
import hashlib
import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

kind = sys.argv[1]
made = Tokenizer(getattr(models, kind)())
made.pre_tokenizer = pre_tokenizers.ByteLevel()
trainer = getattr(trainers, {"Unigram": "UnigramTrainer", "BPE": "BpeTrainer"}[kind])
made.train_from_iterator(["the cat and the hat sat on the mat, 12 + 345 = 357."] * 9, trainer(vocab_size=280, show_progress=False))
print(hashlib.sha256(made.to_str().encode()).hexdigest()[:12])
PY
  done >$kind
  echo "$kind: $(sort -u $kind | wc -l) vocabularies"
done
test "$(sort -u Unigram | wc -l)" -gt 1 && test "$(sort -u BPE | wc -l)" -eq 1
