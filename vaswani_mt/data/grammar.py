"""A small synchronous grammar: endless English sentences with their German, French and Penn Treebank tree.

The grammar draws a clause that belongs to no language and says it in all three (see `vaswani_mt.data.trilingual`).
All that is drawn shows in the English: attachment, tense and reference are never ambiguous. German, French and the
tree are therefore functions of the English sentence, which a model can learn exactly. It is the corpus of demos and
tests, which download none.
"""

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .trilingual.english import english_tree
from .trilingual.french import french
from .trilingual.german import german
from .trilingual.sampling import Sampler


class Quadruple(NamedTuple):
    """A sentence: detokenised English, German and French text, and the one-line Penn tree of the English."""

    en: str
    de: str
    fr: str
    tree: str


_LEAF = re.compile(r" ([^\s()]+)\)")


def leaves(tree: str) -> list[str]:
    """The tokens of a tree.

    Args:
        tree: a bracketed tree of this grammar.

    Returns:
        Its leaves from left to right.
    """
    return _LEAF.findall(tree)


def detokenise(tokens: Sequence[str]) -> str:
    """Joins the tokens of a tree of this grammar as one writes them.

    Args:
        tokens: the leaves of the tree.

    Returns:
        The text, with punctuation and the genitive 's attached to the word before them.
    """
    text = " ".join(tokens)
    return text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?").replace(" 's", "'s")


def generate(seed: int) -> Iterator[Quadruple]:
    """Sentences without end, in no particular order; some occur more than once.

    Args:
        seed: any integer; the same seed yields the same sentences, in every process.

    Yields:
        Quadruples, in which the German, the French and the tree are functions of the English.
    """
    sampler = Sampler(seed)
    while True:
        sentence = sampler.sentence()
        tree = english_tree(sentence)
        yield Quadruple(detokenise(leaves(tree)), german(sentence), french(sentence), tree)


def splits(sizes: Mapping[str, int], seed: int = 0) -> dict[str, list[Quadruple]]:
    """Disjoint samples: no English sentence occurs twice, neither in one split nor in two.

    All sentences are drawn first and then shuffled: a sentence that is drawn often would otherwise be in the first
    split, and the later splits would hold longer and rarer sentences than the one a model is trained on.

    Args:
        sizes: the number of sentences of each split, e.g. `{"train": 20000, "validation": 500, "test": 500}`.
        seed: any integer.

    Returns:
        For each name in `sizes`, a list of that many quadruples. The lists depend on all sizes and on the seed.

    Raises:
        ValueError: a size is negative.
    """
    for name, size in sizes.items():
        if size < 0:
            raise ValueError(f"size of split {name!r} must not be negative, got {size}")
    total = sum(sizes.values())
    unique: dict[str, Quadruple] = {}
    stream = generate(seed)
    while len(unique) < total:
        quadruple = next(stream)
        unique.setdefault(quadruple.en, quadruple)
    shuffled = list(unique.values())
    random.Random(f"splits {seed}").shuffle(shuffled)
    remaining = iter(shuffled)
    return {name: list(itertools.islice(remaining, size)) for name, size in sizes.items()}
