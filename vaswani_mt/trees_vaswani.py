"""Constituency trees: bracketed text, sequences of symbols (section 6.3 of the paper), drawings.

The sequences are those of Vinyals et al. 2015 in the form that served section 6.3. A phrase NP opens as `(NP` and
closes as `)NP`. A pre-terminal is one opening symbol, its tag, and never closed. Words are not written: the next word
of the input belongs to the next pre-terminal. The root, TOP, is left out.

    (TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))  <->  (S (NP PRP )NP (VP VBZ )VP . )S
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from html import escape as escape_html

ROOT = "TOP"
ANY_TAG = "XX"  # the one tag where tags are not written, and that of words an output has no tag for
ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}

_BRACKET = re.compile("[" + re.escape("".join(ESCAPES)) + "]")
_ESCAPED = re.compile("|".join(ESCAPES.values()), re.IGNORECASE)
_UNESCAPES = {escaped: bracket for bracket, escaped in ESCAPES.items()}
# ASCII whitespace separates; treebanks have words with thin and no-break spaces in them.
_WORD = re.compile(r"[^ \t\n\r\f\v]+")


# --- Words ---------------------------------------------------------------------------------------------------------


def is_word(text: str) -> bool:
    """Whether a bracket file can hold it as a word or label, brackets aside."""
    return _WORD.fullmatch(text) is not None


def escape(word: str) -> str:
    """A raw word as a treebank writes it: f(x) -> f-LRB-x-RRB-.

    Raises:
        ValueError: the word is empty or holds whitespace, which no bracket file can hold.
    """
    if not is_word(word):
        raise ValueError(f"{word!r} is no word: a word is not empty and has no whitespace in it.")
    return _BRACKET.sub(lambda match: ESCAPES[match[0]], word)


def unescape(word: str) -> str:
    """What a treebank's word looks like in raw text: -LRB- -> (."""
    return _ESCAPED.sub(lambda match: _UNESCAPES[match[0].upper()], word)


# --- Trees ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Tree:
    """A phrase (its children, no word) or a pre-terminal (a word, no children).

    A word stands in a tree as a treebank writes it, its brackets escaped. `str` gives the one-line bracketed form,
    which nltk.Tree.fromstring reads; in a notebook the tree is drawn.
    """

    label: str
    children: tuple["Tree", ...] = ()
    word: str | None = None

    # No recursion anywhere in this module: a model may nest brackets deeper than Python nests calls.

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                parts.append(")")
            elif node.word is not None:
                parts.append(f" ({node.label} {node.word})")
            else:
                parts.append(f" ({node.label}")
                stack += [None, *reversed(node.children)]
        return "".join(parts)[1:]

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def preterminals(self) -> Iterator["Tree"]:
        """The pre-terminals from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.word is not None:
                yield node
            stack += reversed(node.children)

    def words(self) -> list[str]:
        """The leaves, escaped as in a file."""
        return [node.word for node in self.preterminals() if node.word is not None]

    def pretty(self) -> str:
        """The tree for a terminal, a line for every phrase and word:

        TOP
        └─ S
           ├─ NP
           │  └─ PRP It
           └─ VP
              └─ VBZ works
        """
        lines: list[str] = []
        stack = [(self, "", "")]
        while stack:
            node, lead, below = stack.pop()
            lines.append(lead + node.label + ("" if node.word is None else f" {unescape(node.word)}"))
            children = [(child, f"{below}├─ ", f"{below}│  ") for child in node.children[:-1]]
            children += [(child, f"{below}└─ ", f"{below}   ") for child in node.children[-1:]]
            stack += reversed(children)
        return "\n".join(lines)

    def svg(self) -> str:
        """The tree as an SVG image: words in a row at the bottom, every phrase above the middle of what it holds."""
        spots: list[_Spot] = []
        stack: list[tuple[Tree, int, _Spot | None]] = [(self, 0, None)]
        right = 0.0
        while stack:
            node, depth, parent = stack.pop()
            spot = _Spot(node, depth, parent)
            spots.append(spot)
            if node.word is not None:
                width = _TEXT_WIDTH * max(len(node.label), len(unescape(node.word)), 2) + _TEXT_WIDTH
                spot.left, right = right, right + width
                spot.right = right
            stack += [(child, depth + 1, spot) for child in reversed(node.children)]
        for spot in reversed(spots):  # children before parents
            if spot.parent is not None:
                spot.parent.left = min(spot.parent.left, spot.left)
                spot.parent.right = max(spot.parent.right, spot.right)
        right = max(right, _TEXT_WIDTH * (len(self.label) + 2))
        if not self.children and self.word is None:
            spots[0].left, spots[0].right = 0.0, right
        bottom = max(spot.depth for spot in spots) + (1 if any(spot.node.word is not None for spot in spots) else 0)
        height = (bottom + 1) * _LEVEL
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:.0f} {height}" width="{right:.0f}" '
            f'height="{height}" font-family="sans-serif" font-size="14" text-anchor="middle" fill="currentColor" '
            'stroke="none">'
        ]
        for spot in spots:
            x, y = spot.middle, spot.depth * _LEVEL + _BASELINE
            if spot.parent is not None:
                top = spot.parent.depth * _LEVEL + _BASELINE + 4
                parts.append(_line(spot.parent.middle, top, x, y - 14))
            parts.append(f'<text x="{x:.1f}" y="{y}">{escape_html(spot.node.label)}</text>')
            if spot.node.word is not None:
                parts.append(_line(x, y + 4, x, bottom * _LEVEL + _BASELINE - 14))
                word = escape_html(unescape(spot.node.word))
                parts.append(f'<text x="{x:.1f}" y="{bottom * _LEVEL + _BASELINE}" font-style="italic">{word}</text>')
        return "\n".join([*parts, "</svg>"])

    _repr_svg_ = svg  # what notebooks show


_TEXT_WIDTH, _LEVEL, _BASELINE = 9, 44, 22  # of the drawing, in pixels: a letter, a level, a line's base in its level


class _Spot:
    """Where a node is drawn."""

    __slots__ = ("depth", "left", "node", "parent", "right")

    def __init__(self, node: Tree, depth: int, parent: "_Spot | None"):
        self.node, self.depth, self.parent = node, depth, parent
        self.left, self.right = float("inf"), float("-inf")

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"/>'


# --- Sequences -----------------------------------------------------------------------------------------------------


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
    """A cleaned tree (see `data.treebank.clean`) -> its symbols.

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
        if not is_word(symbol) or symbol in "()" or "(" in label or ")" in label:
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
    return Tree(ROOT, tuple(children[0])), repairs


__all__ = ["Repairs", "Tree", "delinearise", "escape", "is_word", "linearise", "unescape"]
