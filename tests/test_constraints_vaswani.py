"""Under the constraint random weights write trees: well-formed, one tag a word, within the limit, in every search."""

import pytest
import torch

from vaswani_mt.constraints_vaswani import TreeConstraint
from vaswani_mt.trees_vaswani import Repairs, delinearise

from .conftest import small_model

EOS = 2
SYMBOLS = {symbol: index for index, symbol in enumerate(["(S", ")S", "(NP", ")NP", "NN", "VB", "-LRB-"], start=4)}
NAMES = {index: symbol for symbol, index in SYMBOLS.items()}
INF = float("inf")


def allowed_after(prefix, words, limit):
    """The symbols (and "end") left after a prefix."""
    ids = [1, *(SYMBOLS[symbol] for symbol in prefix.split())]
    scores = TreeConstraint(SYMBOLS, [words], [limit], EOS)(torch.tensor([ids]), torch.zeros(1, 20))[0]
    return {
        NAMES.get(index, "end" if index == EOS else index) for index in torch.nonzero(scores > -INF)[:, 0].tolist()
    }


OPENINGS, TAGS = {"(S", "(NP"}, {"NN", "VB", "-LRB-"}


@pytest.mark.parametrize(
    ("prefix", "words", "limit", "expected"),
    [
        ("", 1, 50, OPENINGS | TAGS),
        ("", 0, 50, {"end"}),
        ("(S", 2, 50, OPENINGS | TAGS),
        ("(S NN", 2, 50, OPENINGS | TAGS | {")S"}),
        ("(S NN", 1, 50, {")S"}),
        ("(S (NP NN", 1, 50, {")NP"}),
        ("(S (NP NN )NP", 1, 50, {")S"}),
        ("(S (NP NN )NP )S", 1, 50, {"end"}),
        ("(S NN )S", 2, 50, OPENINGS | TAGS),
        # One word and the end fit into 2 symbols, a phrase around the word needs 4.
        ("", 1, 3, TAGS),
        ("", 1, 4, OPENINGS | TAGS),
        ("(S", 1, 5, TAGS),
        ("(S", 1, 6, OPENINGS | TAGS),
    ],
)
def test_what_may_follow_by_hand(prefix, words, limit, expected):
    assert allowed_after(prefix, words, limit) == expected


SEARCHES = {
    "greedy": {},
    "beam": {"num_beams": 4, "num_return_sequences": 4},
    "transformers' beam": {"num_beams": 3, "early_stopping": True},
    "sampling": {"do_sample": True, "num_return_sequences": 3},
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_weights_write_trees(search, seed):
    model = small_model(seed)
    words, limits = [1, 5, 0, 12], [2, 40, 1, 14]
    source = torch.randint(4, 60, (4, 12), generator=torch.Generator().manual_seed(seed))
    constraint = TreeConstraint(SYMBOLS, words, limits, EOS)
    outputs = model.generate(source, max_new_tokens=40, logits_processor=[constraint], **SEARCHES[search])
    copies = len(outputs) // len(words)
    for number, output in enumerate(outputs.tolist()):
        sentence = number // copies
        # There are fewer than 4 trees over 0 words, or within the tightest limits; what fills up a list is no tree.
        if number % copies and words[sentence] != 5:
            continue
        assert EOS in output
        symbols = output[1 : output.index(EOS)]
        assert len(symbols) + 1 <= limits[sentence]
        leaves = [str(word) for word in range(words[sentence])]
        tree, repairs = delinearise([NAMES[symbol] for symbol in symbols], leaves)
        assert repairs == Repairs()
        assert [node.label in TAGS for node in tree.preterminals()] == [True] * words[sentence]


def test_a_batch_gives_what_each_sentence_gives_alone():
    model = small_model(3)
    source = torch.randint(4, 60, (3, 6), generator=torch.Generator().manual_seed(0))
    words = [2, 6, 4]

    def generate(rows):
        constraint = TreeConstraint(SYMBOLS, [words[row] for row in rows], [30] * len(rows), EOS)
        output = model.generate(source[rows], max_new_tokens=30, num_beams=3, logits_processor=[constraint])
        return [row[: row.index(EOS)] for row in output.tolist()]

    assert generate([0, 1, 2]) == [generate([row])[0] for row in range(3)]


def test_some_sentences_go_on_alone():
    constraint = TreeConstraint(SYMBOLS, [0, 1, 2], [9, 9, 9], EOS).select([2, 0])
    assert constraint.num_words.tolist() == [2, 0]


def test_a_limit_without_room_is_named():
    with pytest.raises(
        ValueError, match="3 tokens are no room for a tree over 3 words and its end: raise max_new_tok"
    ):
        TreeConstraint(SYMBOLS, [1, 3], [9, 3], EOS)


def test_rows_that_fit_no_sentence_are_named():
    constraint = TreeConstraint(SYMBOLS, [1, 1], [9, 9], EOS)
    with pytest.raises(ValueError, match="3 rows are no multiple of the 2 sentences"):
        constraint(torch.ones(3, 1, dtype=torch.long), torch.zeros(3, 20))
