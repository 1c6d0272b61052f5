"""One shared source-target vocabulary (section 5.1), as a plain `tokenizers` file that AutoTokenizer loads by itself.

Both algorithms work on bytes, so that every text can be written with the vocabulary and `decode(encode(s)) == s`
for any NFC text: there is no unknown symbol. Pieces carry the space before them, as in GNMT's word-pieces.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tqdm.auto import tqdm
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

SPECIAL_TOKENS = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}

# Raw text: runs of letters, of digits, of anything else, each with the space before it, so that punctuation is
# learned apart from words. Text that is tokenised already: whatever stands between spaces.
# No run is longer than 100: word-piece matching is quadratic in it. "<" stands alone, so that no piece of a text
# can be spelt like a special token.
_RAW = r" ?[\p{L}\p{M}]{1,100}| ?\p{N}{1,100}| ?[^\s\p{L}\p{M}\p{N}]{1,100}|\s{1,100}(?!\S)|\s"
_PRETOKENIZED = r" ?<| ?[^\s<]{1,100}|\s{1,100}(?!\S)|\s"


def train_tokenizer(
    texts: Iterable[str],
    vocab_size: int,
    algorithm: str = "bpe",
    *,
    symbols: Sequence[str] = (),
    pretokenized: bool = False,
    total: int | None = None,
    model_max_length: int | None = None,
) -> PreTrainedTokenizerFast:
    """Train a vocabulary on sentences of both languages together.

    Args:
        texts: the sentences; read once, as a stream.
        vocab_size: number of symbols, the 4 special ones and 256 bytes included (the paper: about 37000 byte-pair
            symbols for English-German, 32000 word-pieces for English-French). A small corpus gives fewer.
        algorithm: "bpe" (byte-pair merges in the order learned) or "wordpiece" (longest match first).
        symbols: target symbols that are no text, such as the brackets of trees: atoms that no text is ever split
            into. They follow the special symbols (see `parsing_vaswani.target_symbols`) and count in `vocab_size`.
        pretokenized: the text is tokenised already: only spaces separate words.
        total: number of texts, for the progress bar.
        model_max_length: sentences with more tokens are warned about when encoded; None: no limit.

    Returns:
        A tokenizer whose `__call__` appends `</s>`, ready for `save_pretrained`.

    Raises:
        ValueError: unknown algorithm, a vocabulary too small for the bytes, or no text at all.
    """
    smallest = len(SPECIAL_TOKENS) + len(symbols) + 256
    if vocab_size < smallest:
        raise ValueError(f"vocab_size={vocab_size} is too small: {smallest} symbols are taken by bytes and specials.")
    for symbol in symbols:
        if symbol.split() != [symbol]:
            raise ValueError(f"The target symbol {symbol!r} is empty or has whitespace in it.")
    atoms = [f" {symbol}" for symbol in symbols]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special_tokens = [*SPECIAL_TOKENS.values(), *atoms]
    arguments: dict[str, Any] = {"vocab_size": vocab_size, "special_tokens": special_tokens, "show_progress": False}
    trainer: trainers.Trainer
    if algorithm == "bpe":
        tokenizer = Tokenizer(models.BPE())
        trainer = trainers.BpeTrainer(initial_alphabet=alphabet, **arguments)
    elif algorithm == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece({}, unk_token="<unk>", max_input_chars_per_word=1000))
        # No prefix for pieces inside a word: "##" itself may stand in a text. The space marks where words begin.
        trainer = trainers.WordPieceTrainer(initial_alphabet=alphabet, continuing_subword_prefix="", **arguments)
    else:
        raise ValueError(f"Unknown tokenizer algorithm {algorithm!r}: it must be 'bpe' or 'wordpiece'.")
    # The space put before the text makes its first word like any other; the decoder takes it off again.
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Prepend(" ")])
    words = pre_tokenizers.Split(Regex(_PRETOKENIZED if pretokenized else _RAW), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, to_bytes])
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])

    count = 0

    def counted() -> Iterator[str]:
        nonlocal count
        for text in tqdm(texts, desc="Reading text for the vocabulary", unit=" lines", total=total):
            count += 1
            yield text

    tokenizer.train_from_iterator(counted(), trainer)
    if count == 0:
        raise ValueError("No text to train a vocabulary on.")
    if atoms:
        # The trainer takes them for special tokens, which decoding would leave out.
        state = json.loads(tokenizer.to_str())
        state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] not in atoms]
        tokenizer = Tokenizer.from_str(json.dumps(state))
    eos = SPECIAL_TOKENS["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {eos}", pair=f"$A {eos} $B {eos}", special_tokens=[(eos, tokenizer.token_to_id(eos))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **SPECIAL_TOKENS,
        padding_side="right",
        truncation_side="right",
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
        # "</s>" in a text is five characters like any others, not the end of the sentence.
        split_special_tokens=True,
        **({} if model_max_length is None else {"model_max_length": model_max_length}),
    )


def load_tokenizer(path: str | Path) -> PreTrainedTokenizerBase:
    """The tokenizer saved in `path` (a folder or Hub id), with what training needs of it checked.

    Raises:
        ValueError: it has no padding or end symbol, or does not end sentences with the latter.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path)
    for name in ("pad_token", "eos_token"):
        if getattr(tokenizer, name) is None:
            raise ValueError(f"The tokenizer in {path} has no {name}: a translation model needs one.")
    if tokenizer("a")["input_ids"][-1:] != [tokenizer.eos_token_id]:
        raise ValueError(
            f"The tokenizer in {path} does not end a sentence with its eos_token {tokenizer.eos_token!r}."
        )
    return tokenizer
