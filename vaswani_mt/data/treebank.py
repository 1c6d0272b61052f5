"""Penn Treebank bracket files: reading, the cleaning that every parser paper does, the standard split."""

import re
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from pathlib import Path

from ..trees_vaswani import ROOT, Tree
from .corpora import OPENERS, file_lines

ROOT_LABELS = ("", "TOP", "ROOT", "S1")  # names of the bracket around a whole tree; cleaned trees have TOP
TRACE = "-NONE-"
TREE_SUFFIXES = (".mrg", ".tree", ".trees", ".ptb", ".prd", ".bracketed")
COMMENTS = ("%", "#", ";", "*x*")  # how a line between two trees may begin

# ASCII whitespace separates; treebanks have words with thin and no-break spaces in them.
_TOKEN = re.compile(r"[()]|[^ \t\n\r\f\v()]+")

# LDC99T42: sections of the Wall Street Journal, and where under the root of the release they lie.
WSJ_SECTIONS = {
    "train": [f"{section:02}" for section in range(2, 22)],
    "validation": ["22"],
    "test": ["23"],
}
WSJ_FOLDERS = ("", "wsj", "mrg/wsj", "parsed/mrg/wsj", "treebank_3/parsed/mrg/wsj", "combined/wsj")


_CONTENT = "a bracket holds one word or other brackets, and brackets in words are written -LRB- and -RRB-"


# --- Reading -------------------------------------------------------------------------------------------------------


class _Node:
    """A bracket that is being read."""

    __slots__ = ("children", "label", "line", "word")

    def __init__(self, line: int):
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Tree] = []
        self.line = line


def parse_trees(lines: Iterable[str], name: str | Path = "the input") -> Iterator[Tree]:
    """Trees of bracketed text: one a line, many lines a tree or several a line; empty root labels are kept.

    Between trees, blank lines and lines that begin with %, #, ; or *x* are passed over.

    Args:
        lines: the text.
        name: what messages call it.

    Raises:
        ValueError: a malformed tree, with its line and what is wrong with it.
    """
    stack: list[_Node] = []
    number = 0

    def wrong(what: str) -> ValueError:
        return ValueError(f"{name}, line {number}: {what}")

    for number, line in enumerate(lines, start=1):
        if not stack and line.lstrip().startswith(COMMENTS):
            continue
        for token in _TOKEN.findall(line):
            if token == "(":
                if stack:
                    parent = stack[-1]
                    if parent.word is not None:
                        raise wrong(f"a bracket inside ({parent.label} {parent.word}: {_CONTENT}.")
                    if parent.label is None:
                        if len(stack) > 1:
                            raise wrong("a bracket without a label; only the outermost may lack one.")
                        parent.label = ""
                stack.append(_Node(number))
            elif token == ")":
                if not stack:
                    raise wrong("a closing bracket too many.")
                node = stack.pop()
                if node.word is None and not node.children:
                    raise wrong(f"({node.label or ''}) holds neither a word nor other brackets.")
                tree = Tree(node.label or "", tuple(node.children), node.word)
                if stack:
                    stack[-1].children.append(tree)
                else:
                    yield tree
            elif not stack:
                raise wrong(f"{token!r} stands outside of all brackets.")
            elif stack[-1].label is None:
                stack[-1].label = token
            elif stack[-1].word is not None or stack[-1].children:
                raise wrong(f"{token!r} in the bracket ({stack[-1].label}, which holds something already: {_CONTENT}.")
            else:
                stack[-1].word = token
    if stack:
        raise wrong(f"the tree that begins in line {stack[0].line} lacks {len(stack)} closing bracket(s).")


def parse_tree(text: str) -> Tree:
    """The one tree of a text, as it stands.

    Raises:
        ValueError: no tree, several, or a malformed one.
    """
    trees = list(parse_trees(text.split("\n"), "the tree"))
    if len(trees) != 1:
        raise ValueError(f"{len(trees)} trees instead of one in {text[:80]!r}.")
    return trees[0]


def clean_label(label: str) -> str:
    """A label without functional tags and indices: NP-SBJ-1 and NP=2 -> NP; -LRB- and its kind stay."""
    end = re.search("[-=]", label[1:])
    return label if label.startswith("-") or end is None else label[: end.start() + 1]


def clean(tree: Tree) -> Tree | None:
    """The tree that parsers are trained and scored on.

    Functional tags and indices go, so do traces and the brackets that held nothing else; chains of unary brackets
    stay. The root is called TOP, and made where there is none.

    Returns:
        the cleaned tree, or None where it held only traces.
    """
    children: list[list[Tree]] = [[]]
    stack: list[Tree | None] = [tree]
    open_labels: list[str] = []
    while stack:
        node = stack.pop()
        if node is None:
            kept, label = children.pop(), open_labels.pop()
            if kept:
                children[-1].append(Tree(label, tuple(kept)))
        elif node.word is None:
            children.append([])
            open_labels.append(clean_label(node.label) if node.label else "")
            stack += [None, *reversed(node.children)]
        elif node.label != TRACE:
            children[-1].append(Tree(clean_label(node.label), word=node.word))
    if not children[0]:
        return None
    (root,) = children[0]
    is_root = root.word is None and root.label in ROOT_LABELS
    return Tree(ROOT, root.children if is_root else (root,))


def read_trees(paths: Sequence[str | Path]) -> Iterator[Tree]:
    """The cleaned trees of files, in order; those that hold only traces are left out.

    Args:
        paths: as for `tree_files`.

    Raises:
        FileNotFoundError, ValueError: as `tree_files` and `parse_trees`.
    """
    for file in tree_files(paths):
        for tree in parse_trees(file_lines(file), file):
            if (cleaned := clean(tree)) is not None:
                yield cleaned


def tree_files(paths: Sequence[str | Path]) -> list[Path]:
    """Files named one by one, by patterns (wsj_01*.mrg, **/*.tree.gz), or by folders (all bracket files below them).

    Raises:
        FileNotFoundError: a path that names nothing.
    """
    files: list[Path] = []
    for path in paths:
        if Path(path).is_dir():
            found = sorted(file for file in Path(path).rglob("*") if _is_tree_file(file))
        elif Path(path).is_file():
            found = [Path(path)]
        else:
            found = sorted(Path(match) for match in glob(str(path), recursive=True) if Path(match).is_file())
        if not found:
            endings = ", ".join(TREE_SUFFIXES)
            raise FileNotFoundError(
                f"No treebank file at {path}: give a file, a pattern in quotes, or a folder with {endings} files."
            )
        files += found
    return files


def _is_tree_file(file: Path) -> bool:
    plain = file.with_suffix("") if file.suffix in OPENERS else file
    return plain.suffix in TREE_SUFFIXES and file.is_file()


def wsj_files(folder: str | Path, split: str) -> list[Path]:
    """The files of the Wall Street Journal's standard split: sections 02-21 train, 22 validation, 23 test.

    Args:
        folder: the root of LDC99T42 (Treebank-3), or any folder on the way down to the sections.
        split: train, validation or test.

    Raises:
        FileNotFoundError: no sections there, or not all that the split needs; the message names them.
    """
    roots = [Path(folder, below) for below in WSJ_FOLDERS]
    root = next((root for root in roots if any(root.glob("[0-9][0-9]/"))), None)
    if root is None:
        raise FileNotFoundError(
            f"No sections 00 to 24 in {folder}: give the folder of LDC99T42 (Treebank-3), or the one that holds the "
            "sections, such as parsed/mrg/wsj."
        )
    missing = [section for section in WSJ_SECTIONS[split] if not (root / section).is_dir()]
    if missing:
        raise FileNotFoundError(
            f"{root} lacks section {', '.join(missing)}, which the standard {split} set needs: copy it there, or name "
            f"the files to use instead ({split}_files)."
        )
    return tree_files([root / section for section in WSJ_SECTIONS[split]])
