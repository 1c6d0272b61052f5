"""Trees: linearisation and its inverse for every tree there is and for any sequence there is not; drawings."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaswani_mt.data.grammar import splits
from vaswani_mt.data.treebank import clean, parse_tree, read_trees
from vaswani_mt.trees_vaswani import Repairs, Tree, delinearise, escape, linearise, unescape

DATA = Path(__file__).parents[2] / "shared" / "data"
# The clean trees of the corpora at hand, counted by their root brackets.
COUNTS = {"wsj_sample": 3501, "craft": 28218}
WORKS = "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))"


def corpora():
    """Every tree of the embedded grammar's sample, and of the real treebanks at hand."""
    cases = [pytest.param(None, 2000, id="embedded")]
    for name, count in COUNTS.items():
        if (DATA / name).exists():
            cases.append(pytest.param(DATA / name, count, id=name))
    return cases


@pytest.mark.parametrize(("folder", "count"), corpora())
def test_every_tree_comes_back(folder, count):
    if folder is None:
        trees = [clean(parse_tree(quadruple.tree)) for quadruple in splits({"train": 2000})["train"]]
    else:
        trees = list(read_trees([folder]))
    assert len(trees) == count
    for tree in trees:
        assert delinearise(linearise(tree), tree.words()) == (tree, Repairs())


def test_the_sequence_of_the_paper_by_hand():
    symbols = ["(S", "(NP", "PRP", ")NP", "(VP", "VBZ", ")VP", ".", ")S"]
    assert linearise(parse_tree(WORKS)) == symbols
    assert linearise(parse_tree(WORKS), tags=False) == ["(S", "(NP", "XX", ")NP", "(VP", "XX", ")VP", "XX", ")S"]
    assert str(delinearise(symbols, ["It", "works", "."])[0]) == WORKS


# --- Random trees and random sequences -----------------------------------------------------------------------------

LABELS = st.sampled_from(["S", "NP", "VP", "X", "PRT|ADVP", "WHNP"])
TAGS = st.sampled_from(["NN", "-LRB-", "-RRB-", ".", "``", "$", ":", "#"])
WORDS = st.text(st.characters(exclude_characters="()[]{} \t\n\r\f\v", exclude_categories=["Cs"]), min_size=1)
LEAVES = st.builds(lambda tag, word: Tree(tag, word=word), TAGS, WORDS)
NODES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(lambda label, kids: Tree(label, tuple(kids)), LABELS, st.lists(nodes, min_size=1)),
    max_leaves=20,
)
TREES = st.lists(NODES, min_size=1, max_size=4).map(lambda nodes: Tree("TOP", tuple(nodes)))


@given(TREES)
def test_a_random_tree_comes_back_from_its_symbols_and_from_its_text(tree):
    assert delinearise(linearise(tree), tree.words()) == (tree, Repairs())
    assert parse_tree(str(tree)) == tree


SYMBOLS = st.one_of(
    st.sampled_from(
        ["(S", ")S", "(NP", ")NP", "NN", "-LRB-", ".", "(", ")", "()", "", " ", "((S", "))", "(S)", "N N"]
    ),
    st.text(max_size=5),
)


@settings(max_examples=300)
@given(st.lists(SYMBOLS, max_size=30), st.lists(WORDS, max_size=8))
@example([")S"] * 5, [])
@example(["(S"] * 5, ["a"])
def test_any_sequence_becomes_a_tree_over_exactly_the_words(symbols, words):
    tree, repairs = delinearise(symbols, words)
    assert tree.label == "TOP"
    assert tree.words() == words
    if words:
        assert parse_tree(str(tree)) == tree
        assert delinearise(linearise(tree), words) == (tree, Repairs())
    # What needed no repair was the linearisation of a tree.
    if repairs.total == 0:
        assert linearise(tree) == symbols


@pytest.mark.parametrize(
    ("symbols", "words", "expected", "repairs"),
    [
        ("(S (NP NN )NP (VP VB", "a b", "(S (NP (NN a)) (VP (VB b)))", {"missing_closings": 2}),
        ("(S (NP NN )S VB", "a b", "(S (NP (NN a))) (VB b)", {"missing_closings": 1}),
        ("(S NN )S )NP VB", "a b", "(S (NN a)) (VB b)", {"surplus_closings": 1}),
        ("(S (NP NN )VP VB )S", "a b", "(S (NP (NN a)) (VB b))", {"mistyped_closings": 1}),
        ("(S NN VB RB )S", "a b", "(S (NN a) (VB b))", {"surplus_tags": 1}),
        ("(S NN )S", "a b c", "(S (NN a)) (XX b) (XX c)", {"missing_tags": 2}),
        ("(S NN", "a b", "(S (NN a) (XX b))", {"missing_tags": 1, "missing_closings": 1}),
        ("(S (NP )NP NN )S", "a", "(S (NN a))", {"empty_phrases": 1}),
        ("(S ( NN ) () )S", "a", "(S (NN a))", {"unknown": 3}),
        ("", "a b", "(XX a) (XX b)", {"missing_tags": 2}),
    ],
)
def test_repairs_by_hand(symbols, words, expected, repairs):
    tree, found = delinearise(symbols.split(), words.split())
    assert str(tree) == f"(TOP {expected})"
    assert found == Repairs(**repairs)
    assert found.total == sum(repairs.values())


def test_no_word_is_a_root_alone():
    assert delinearise(["(S", "NN", ")S"], []) == (Tree("TOP"), Repairs(surplus_tags=1, empty_phrases=1))


def test_depth_is_no_limit():
    depth = 20_000
    symbols = ["(X"] * depth + ["NN"] + [")X"] * depth
    tree, repairs = delinearise(symbols, ["a"])
    assert repairs.total == 0
    assert linearise(tree) == symbols
    assert str(tree).count("(X") == depth


# --- Words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "written"),
    [("(", "-LRB-"), (")", "-RRB-"), ("f(x)[0]", "f-LRB-x-RRB--LSB-0-RSB-"), ("{}", "-LCB--RCB-"), ("a", "a")],
)
def test_brackets_in_words_are_escaped_as_in_treebanks(raw, written):
    assert escape(raw) == written
    assert unescape(written) == raw


def test_escapes_are_read_in_either_case():
    assert unescape("-lrb-") == "("


@pytest.mark.parametrize("word", ["", " ", "a b", "a\n"])
def test_what_is_no_word_is_refused(word):
    with pytest.raises(ValueError, match="is no word"):
        escape(word)


@given(WORDS | st.text("()[]{}ab-", min_size=1))
def test_escaping_any_word_makes_it_fit_for_a_bracket_file(word):
    written = escape(word)
    assert parse_tree(f"(NN {written})").word == written
    if not re.search("-[LR][RSC]B-", word, re.IGNORECASE):
        assert unescape(written) == word


# --- Drawings ------------------------------------------------------------------------------------------------------


def test_a_tree_for_the_terminal():
    text = "(TOP (S (NP (PRP It)) (VP (VBZ works)) (-RRB- -RRB-)))"
    assert parse_tree(text).pretty().split("\n") == [
        "TOP",
        "└─ S",
        "   ├─ NP",
        "   │  └─ PRP It",
        "   ├─ VP",
        "   │  └─ VBZ works",
        "   └─ -RRB- )",
    ]


def test_a_tree_for_a_notebook():
    tree = parse_tree("(TOP (S (NP (NN a<b)) (VP (VBZ is&)) (. .)))")
    assert tree._repr_svg_() == tree.svg()
    image = ElementTree.fromstring(tree.svg())
    name = "{http://www.w3.org/2000/svg}"
    texts = {node.text: (float(node.get("x")), float(node.get("y"))) for node in image.iter(f"{name}text")}
    assert sorted(texts) == sorted(["TOP", "S", "NP", "NN", "a<b", "VP", "VBZ", "is&", "."])
    # A line for each bond between two nodes, one from each tag to its word.
    assert len(list(image.iter(f"{name}line"))) == 6 + 3
    # The words stand in a row at the bottom, from left to right, and phrases stand above what they hold.
    width, height = float(image.get("width")), float(image.get("height"))
    assert texts["a<b"][0] < texts["is&"][0] < width
    assert texts["a<b"][1] == texts["is&"][1] == max(y for _, y in texts.values()) < height
    assert texts["S"][1] < texts["NP"][1] < texts["NN"][1] < texts["a<b"][1]
    assert texts["NP"][0] == texts["NN"][0] == texts["a<b"][0]


def test_the_empty_tree_is_drawn():
    assert Tree("TOP").pretty() == "TOP"
    assert ">TOP</text>" in Tree("TOP").svg()
