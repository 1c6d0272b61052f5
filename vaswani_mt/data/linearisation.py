"""Trees as sequences of symbols and back (Vinyals et al. 2015, in the form that served section 6.3 of the paper).

A phrase NP opens as `(NP` and closes as `)NP`. A pre-terminal is one opening symbol, its tag, and never closed. Words
are not written: the next word of the input belongs to the next pre-terminal. TOP is left out.

    (TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))  <->  (S (NP PRP )NP (VP VBZ )VP . )S
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from .treebank import Tree, is_word

ANY_TAG = "XX"  # the one tag where tags are not written, and that of words an output has no tag for


@dataclass
class Repairs:
    """What had to be mended in a sequence to make it a tree; all zero for a well-formed one.

    Args:
        missing_closings: brackets closed by the closing of one around them, or by the end.
        surplus_closings: closings with nothing open, dropped.
        mistyped_closings: closings of a label that is not open; they close the innermost bracket.
        surplus_tags: tags beyond the last word, dropped.
        missing_tags: words beyond the last tag; they get the tag XX in the bracket open at the end.
        empty_phrases: brackets around no word, dropped.
        unknown: symbols that are none, dropped.
    """

    missing_closings: int = 0
    surplus_closings: int = 0
    mistyped_closings: int = 0
    surplus_tags: int = 0
    missing_tags: int = 0
    empty_phrases: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """Their sum."""
        return sum(getattr(self, field.name) for field in fields(self))


def linearise(tree: Tree, *, tags: bool = True) -> list[str]:
    """A cleaned tree (see `treebank.clean`) -> its symbols.

    Args:
        tree: its root TOP is not written.
        tags: whether tags are written; otherwise XX stands for each.
    """
    symbols: list[str] = []
    stack: list[Tree | str] = [*reversed(tree.children)]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            symbols.append(f"){node}")
        elif node.word is not None:
            symbols.append(node.label if tags else ANY_TAG)
        else:
            symbols.append(f"({node.label}")
            stack += [node.label, *reversed(node.children)]
    return symbols


def delinearise(symbols: Iterable[str], words: Sequence[str]) -> tuple[Tree, Repairs]:
    """Any sequence of symbols -> a tree over exactly `words`; never fails.

    The inverse of `linearise` for what that returns. Anything else is repaired as `Repairs` says. In a sequence
    without a single bracket or tag, all words stand side by side under TOP.

    Args:
        symbols: `(X`, `)X` and tags.
        words: the input's, as they are to stand in the tree.

    Returns:
        the tree, with root TOP, and the repairs.
    """
    repairs = Repairs()
    labels: list[str] = []
    children: list[list[Tree]] = [[]]
    used = 0

    def close() -> None:
        kept, label = children.pop(), labels.pop()
        if kept:
            children[-1].append(Tree(label, tuple(kept)))
        else:
            repairs.empty_phrases += 1

    for symbol in symbols:
        label = symbol[1:]
        if not symbol or symbol in "()" or any(mark in label for mark in "()") or not is_word(symbol):
            repairs.unknown += 1
        elif symbol[0] == "(":
            labels.append(label)
            children.append([])
        elif symbol[0] != ")":
            if used < len(words):
                children[-1].append(Tree(symbol, word=words[used]))
                used += 1
            else:
                repairs.surplus_tags += 1
        elif not labels:
            repairs.surplus_closings += 1
        elif label not in labels:
            repairs.mistyped_closings += 1
            close()
        else:
            while labels[-1] != label:
                repairs.missing_closings += 1
                close()
            close()
    repairs.missing_tags = len(words) - used
    children[-1] += [Tree(ANY_TAG, word=word) for word in words[used:]]
    repairs.missing_closings += len(labels)
    while labels:
        close()
    return Tree("TOP", tuple(children[0])), repairs
