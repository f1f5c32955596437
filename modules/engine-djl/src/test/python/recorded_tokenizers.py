"""Makes src/test/resources/io/troupe/engine/djl/recorded_tokenizers.json: tiny tokenizers with a ByteLevel decoder, and
what the tokenizers library makes of random texts and random ids with each of them.

    python3 recorded_tokenizers.py FILE

Made with tokenizers 0.23.3.
"""

import json
import random
import sys

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = ["the cat and the hat sat on the mat, 12 + 345 = 357. Hello hello world! é ünï 中文 🙂 <think>\n\n"] * 9
ALPHABET = pre_tokenizers.ByteLevel.alphabet()
END = ["<|end|>", "<|start|>"]
QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_level(model, **options):
    made = Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, **options)
    made.decoder = decoders.ByteLevel()
    return made


def trained(made, size=275):
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=size, special_tokens=END, initial_alphabet=ALPHABET, show_progress=False))
    return made


def split(regex):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def with_pre_tokenizer(pre_tokenizer):
    made = byte_level(models.BPE())
    made.pre_tokenizer = pre_tokenizer
    return trained(made)


def with_normalizer(normalizer, *added):
    made = byte_level(models.BPE())
    made.normalizer = normalizer
    trained(made).add_tokens(list(added))
    return made


def unigram():
    made = byte_level(models.Unigram())
    made.train_from_iterator(CORPUS, trainers.UnigramTrainer(
        vocab_size=280, special_tokens=END + ["<unk>"], unk_token="<unk>", initial_alphabet=ALPHABET, show_progress=False))
    return made


def word_level():
    made = byte_level(models.WordLevel(unk_token="<unk>"))
    made.train_from_iterator(CORPUS, trainers.WordLevelTrainer(
        vocab_size=40, special_tokens=END + ["<unk>"], show_progress=False))
    return made


def llama():
    made = byte_level(models.BPE(ignore_merges=True))
    made.pre_tokenizer = split(QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|", 1))
    trained(made)
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|start|> $A", special_tokens=[("<|start|>", made.token_to_id("<|start|>"))])])
    return made


def added():
    made = trained(byte_level(models.BPE()))
    made.add_tokens([AddedToken("<think>"), AddedToken("lo", lstrip=True, normalized=False),
                     AddedToken("ca", rstrip=True, normalized=False), AddedToken("mat", single_word=True), AddedToken("zéz")])
    made.add_special_tokens([AddedToken("<|tool|>", lstrip=True, rstrip=True)])
    return made


MADE = {
    "plain": lambda: trained(byte_level(models.BPE())),
    "prefix space": lambda: with_pre_tokenizer(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "qwen": lambda: with_pre_tokenizer(split(QWEN)),
    "digits": lambda: with_pre_tokenizer(pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])),
    "nfc": lambda: with_normalizer(normalizers.NFC()),
    "lower case": lambda: with_normalizer(
        normalizers.Lowercase(), AddedToken("HELLO", normalized=True), AddedToken("ÀB", normalized=True),
        AddedToken("WORLD", normalized=False)),
    "nfkc": lambda: with_normalizer(normalizers.Sequence([normalizers.NFKC(), normalizers.Strip()])),
    "unigram": unigram,
    "words": word_level,
    "llama": llama,
    "added": added,
}
PIECES = ["the ", "cat", " Hello", "HELLO", "hello", "WORLD", "world", "ÀB", "é", "e\u0301", "ﬁ", "中文", "🙂", "\n", "\n\n", "  ", "\t",
          "12", "345", ".", ")\n", "<think>", "lo", "ca", " mat ", "mats", "zéz", "'ll", "<|", "end", "\u200d", "a"]


def main(target):
    chance = random.Random(7)
    recorded = {"tokenizers": tokenizers.__version__}
    for name, make in MADE.items():
        made = make()
        size = made.get_vocab_size()
        texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 9))) for _ in range(20)]
        texts += ["".join(chr(chance.choice((chance.randint(32, 126), chance.randint(160, 0x2FF), chance.randint(0x1F600, 0x1F64F))))
                          for _ in range(chance.randint(1, 12))) for _ in range(10)]
        lists = [[chance.randrange(size) for _ in range(chance.randint(1, 10))] for _ in range(20)]
        recorded[name] = {
            "tokenizer": json.loads(made.to_str()),
            "vocabulary": size,
            "texts": [[text, made.encode(text, add_special_tokens=False).ids] for text in texts],
            "ids": [[ids, made.decode(ids, skip_special_tokens=True)] for ids in lists],
        }
    with open(target, "w") as file:
        json.dump(recorded, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
