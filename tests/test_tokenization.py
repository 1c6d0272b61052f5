"""Vocabularies are reversible, end with EOS, and load with no custom code."""

import json
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from vaswani_mt.tokenization import load_tokenizer, train_tokenizer

from .conftest import SENTENCES

KINDS = [("bpe", False), ("bpe", True), ("wordpiece", False), ("wordpiece", True)]
HARD = [
    "",
    " ",
    "  two  spaces ",
    "tab\tand\nnewline\r\n",
    "</s> <pad> <s> <unk>",
    "## ##ing ▁word Ġword @@ @-@",
    "日本語 العربية ไทย हिन्दी",
    "👍🏽 👨‍👩‍👧 🇩🇪",
    "Straße, naïve, Żółć",
    "x" * 5000,
    " " * 500,
    "\u2028\x85\x0b\x00",
    "3.14159 1,000,000 €",
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}{'-pretokenized' if kind[1] else ''}")
def trained(request):
    algorithm, pretokenized = request.param
    return train_tokenizer(SENTENCES * 3, 320, algorithm, pretokenized=pretokenized)


def decoded(tokenizer, text):
    return tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True)


@pytest.mark.parametrize("text", HARD, ids=ascii)
def test_decoding_gives_the_text_back(trained, text):
    ids = tokenizer_ids = trained(text)["input_ids"]
    assert decoded(trained, text) == text
    assert trained.unk_token_id not in tokenizer_ids
    assert ids.count(trained.eos_token_id) == 1  # "</s>" in a text is not the end of the sentence
    assert ids[-1] == trained.eos_token_id


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=60))
@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece"])
def test_any_nfc_text_comes_back(algorithm, text):
    tokenizer = CACHE.setdefault(algorithm, train_tokenizer(SENTENCES, 320, algorithm))
    text = unicodedata.normalize("NFC", text.encode("utf-8", "ignore").decode())
    assert decoded(tokenizer, text) == text


CACHE: dict = {}


def test_other_text_is_composed(trained):
    assert decoded(trained, "e\u0301") == "\u00e9"


def test_truncation_keeps_the_end_symbol(trained):
    ids = trained(SENTENCES[0], truncation=True, max_length=3)["input_ids"]
    assert len(ids) == 3
    assert ids[-1] == trained.eos_token_id


def test_bpe_merges_the_most_frequent_pair_first():
    # In "ab ab ab ac" the pair (a, b) occurs three times, " a" four times: first " a", then " ab".
    tokenizer = train_tokenizer(["ab ab ab ac"], 4 + 256 + 2)
    assert tokenizer.convert_ids_to_tokens(tokenizer("ab ac")["input_ids"]) == ["Ġab", "Ġa", "c", "</s>"]


def test_wordpiece_takes_the_longest_piece():
    tokenizer = train_tokenizer(["abcd abcd abce"], 4 + 256 + 4, "wordpiece")
    pieces = tokenizer.convert_ids_to_tokens(tokenizer("abcd")["input_ids"])
    assert pieces == ["Ġabcd", "</s>"]


def test_pretokenized_text_is_split_at_spaces_only():
    plain = train_tokenizer(["it &apos;s @-@ ok"] * 9, 300)
    given = train_tokenizer(["it &apos;s @-@ ok"] * 9, 300, pretokenized=True)
    assert "Ġ&apos;s" in given.get_vocab()
    assert "Ġ&apos;s" not in plain.get_vocab()


def test_loads_in_a_process_without_this_package(trained, tmp_path):
    trained.save_pretrained(tmp_path)
    text = "Ein kleiner Hund 👍 </s>"
    program = (
        "import sys, json; sys.modules['vaswani_mt'] = None\n"
        "from transformers import AutoTokenizer\n"
        f"print(json.dumps(AutoTokenizer.from_pretrained({str(tmp_path)!r})({text!r})['input_ids']))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout.splitlines()[-1]) == trained(text)["input_ids"]
    assert AutoTokenizer.from_pretrained(tmp_path).decode(trained(text)["input_ids"], skip_special_tokens=True) == text


def test_padding_and_masks(trained):
    batch = trained(["a", "a small dog"], padding=True)
    assert batch["input_ids"][0][-1] == trained.pad_token_id == 0
    assert batch["attention_mask"][0][-1] == 0
    assert set(batch) == {"input_ids", "attention_mask"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SENTENCES, 100), "vocab_size=100 is too small: 260"),
        ((SENTENCES, 300, "unigram"), "'bpe' or 'wordpiece'"),
        (([], 300), "No text"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_tokenizer(*arguments)


def test_a_tokenizer_without_an_end_is_refused(trained, tmp_path):
    trained.save_pretrained(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text())
    data["post_processor"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="does not end a sentence with its eos_token"):
        load_tokenizer(tmp_path)
