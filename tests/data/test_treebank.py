"""Bracket files: every form of writing trees, the cleaning, the standard split, and what malformed files are told."""

import gzip
import re
from pathlib import Path

import pytest

from vaswani_mt.data.treebank import (
    WSJ_FOLDERS,
    clean,
    clean_label,
    parse_tree,
    parse_trees,
    read_trees,
    tree_files,
    wsj_files,
)

WORKS = "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))"


def cleaned(text):
    return str(clean(parse_tree(text)))


# --- Reading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        WORKS,
        "( (S (NP (PRP It)) (VP (VBZ works)) (. .)) )",
        "((S (NP (PRP It)) (VP (VBZ works)) (. .)))",
        "(ROOT (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
        "(S1 (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
        "(S (NP (PRP It)) (VP (VBZ works)) (. .))",
        "( (S \n    (NP-SBJ (PRP It) )\n    (VP (VBZ works) )\n\t(. .) ))",
        "(S(NP(PRP It))(VP(VBZ works))(. .))",
    ],
)
def test_every_way_to_write_a_tree_gives_the_same(text):
    assert cleaned(text) == WORKS


def test_several_trees_a_line_and_lines_between_them():
    lines = ["% a comment (with brackets)", "*x* *x*", "", "(A (B b)) (C (D", "  d)) (E (# #))", "# the end"]
    assert list(map(str, parse_trees(lines))) == ["(A (B b))", "(C (D d))", "(E (# #))"]


def test_a_line_inside_a_tree_is_no_comment():
    assert cleaned("(NP (NN a)\n(# #)\n(CD 3))") == "(TOP (NP (NN a) (# #) (CD 3)))"
    assert cleaned("(NP (#\n#)\n(CD 3))") == "(TOP (NP (# #) (CD 3)))"


def test_words_of_any_script_and_with_spaces_that_are_not_ascii_stay_whole():
    words = ["東京", "5\u00a0mg", "5\u2009%", "naïve", "\U0001f600", "\\/"]
    text = "(TOP (NP " + " ".join(f"(NN {word})" for word in words) + "))"
    assert clean(parse_tree(text)).words() == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (PRP It))", r"here, line 1: the tree that begins in line 1 lacks 1 closing"),
        ("\n\n(S\n(NP (PRP It)\n", r"the tree that begins in line 3 lacks 2 closing"),
        ("(S (NP (PRP It))))", r"line 1: a closing bracket too many"),
        ("(S (NP (PRP It)))\nworks", r"line 2: 'works' stands outside of all brackets"),
        ("(S (NP))", r"line 1: \(NP\) holds neither a word nor other brackets"),
        ("()", r"line 1: \(\) holds neither"),
        ("(S (NP It works))", r"'works' in the bracket \(NP, which holds something already.*-LRB-"),
        ("(S (PRP It) works)", r"'works' in the bracket \(S, which holds"),
        ("(S (PRP It (VBZ works)))", r"a bracket inside \(PRP It: "),
        ("(S ((PRP It)))", r"a bracket without a label; only the outermost may lack one"),
    ],
)
def test_a_malformed_tree_names_file_line_and_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        list(parse_trees(text.split("\n"), "here"))
    assert str(caught.value).startswith("here, line ")


@pytest.mark.parametrize(("text", "number"), [("", 0), ("(A a) (B b)", 2)])
def test_one_tree_is_one_tree(text, number):
    with pytest.raises(ValueError, match=f"{number} trees instead of one"):
        parse_tree(text)


# --- Cleaning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("ADVP-LOC-CLR=3", "ADVP"),
        ("PP-TMP", "PP"),
        ("-LRB-", "-LRB-"),
        ("-RRB-", "-RRB-"),
        ("-NONE-", "-NONE-"),
        ("PRP$", "PRP$"),
        ("PRT|ADVP", "PRT|ADVP"),
        ("WHNP-1", "WHNP"),
        ("``", "``"),
        ("-", "-"),
        ("=", "="),
    ],
)
def test_functional_tags_and_indices_go(label, plain):
    assert clean_label(label) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A trace, and the brackets that held nothing else.
        ("(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go))))", "(TOP (S (VP (TO to) (VP (VB go)))))"),
        ("(SBAR (WHNP-1 (-NONE- 0)) (S (NP (PRP he)) (VP (VBZ is))))", "(TOP (SBAR (S (NP (PRP he)) (VP (VBZ is)))))"),
        # Unary chains stay, X over X too.
        ("(S (NP (NP (QP (CD 3)))))", "(TOP (S (NP (NP (QP (CD 3))))))"),
        ("(TOP (-LRB- -LRB-) (NP (NN x)) (-RRB- -RRB-))", "(TOP (-LRB- -LRB-) (NP (NN x)) (-RRB- -RRB-))"),
        ("(TOP (S (VB a)) (S (VB b)))", "(TOP (S (VB a)) (S (VB b)))"),
        ("(NN dog)", "(TOP (NN dog))"),
        ("(TOP dog)", "(TOP (TOP dog))"),
    ],
)
def test_cleaning_by_hand(text, expected):
    assert cleaned(text) == expected


def test_a_tree_of_traces_is_none_and_left_out(tmp_path):
    assert clean(parse_tree("(S (NP (-NONE- *)) (VP (-NONE- *?*)))")) is None
    (tmp_path / "a.mrg").write_text(f"( (NP (-NONE- *)) )\n{WORKS}\n")
    assert list(map(str, read_trees([tmp_path / "a.mrg"]))) == [WORKS]


def test_cleaning_twice_changes_nothing_and_depth_is_no_limit():
    text = "(S " * 5000 + "(NP-SBJ (NN x))" + ")" * 5000
    once = clean(parse_tree(text))
    assert str(once) == "(TOP " + "(S " * 5000 + "(NP (NN x))" + ")" * 5001
    assert clean(once) == once


# --- Files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """wsj_1.mrg, wsj_2.mrg.gz below a folder, and a file that is no treebank."""
    (tmp_path / "below").mkdir()
    (tmp_path / "wsj_1.mrg").write_text("( (S (NN a)) )")
    (tmp_path / "below" / "wsj_2.mrg.gz").write_bytes(gzip.compress(b"( (S (NN b)) )\n"))
    (tmp_path / "readme.txt").write_text("no tree (at all")
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "words"),
    [(["."], "ba"), (["wsj_1.mrg"], "a"), (["**/wsj_*"], "ba"), (["wsj_1.mrg", "below/*.gz"], "ab"), (["below"], "b")],
)
def test_files_folders_and_patterns(folder, paths, words):
    trees = read_trees([f"{folder}/{path}" for path in paths])
    assert "".join(word for tree in trees for word in tree.words()) == words


def test_a_path_that_names_nothing_says_what_to_give(folder):
    with pytest.raises(FileNotFoundError, match=r"No treebank file at .*none\*: give a file, a pattern .*\.mrg"):
        tree_files([folder / "none*"])


def test_the_file_is_named_in_the_message(folder):
    with pytest.raises(ValueError, match=r"readme\.txt, line 1: 'no' stands outside"):
        list(read_trees([folder / "readme.txt"]))


@pytest.fixture
def sections(request, tmp_path):
    """All sections of the journal in one of the layouts of the release, a tree in each."""
    for section in range(25):
        folder = tmp_path / request.param / f"{section:02}"
        folder.mkdir(parents=True)
        (folder / f"wsj_{section:02}01.mrg").write_text(f"( (S (CD {section})) )")
    return tmp_path


@pytest.mark.parametrize("sections", WSJ_FOLDERS, indirect=True, ids=lambda layout: layout or "sections")
def test_the_standard_split_in_every_layout(sections):
    found = {split: list(read_trees(wsj_files(sections, split))) for split in ("train", "validation", "test")}
    numbers = {split: [int(tree.words()[0]) for tree in trees] for split, trees in found.items()}
    assert numbers == {"train": list(range(2, 22)), "validation": [22], "test": [23]}


@pytest.mark.parametrize("sections", ["parsed/mrg/wsj"], indirect=True)
def test_a_section_that_is_missing_is_named(sections):
    (sections / "parsed/mrg/wsj/22/wsj_2201.mrg").unlink()
    (sections / "parsed/mrg/wsj/22").rmdir()
    with pytest.raises(FileNotFoundError, match="lacks section 22, which the standard validation set needs"):
        wsj_files(sections, "validation")
    assert len(wsj_files(sections, "train")) == 20


def test_a_folder_without_sections_says_what_to_give(tmp_path):
    with pytest.raises(FileNotFoundError, match="No sections 00 to 24"):
        wsj_files(tmp_path, "train")


# --- A real treebank -----------------------------------------------------------------------------------------------

WSJ = Path(__file__).parents[3] / "shared" / "data" / "wsj_sample"
# A tree as the Penn Treebank prints it: over lines, with functional tags, indices, traces and an empty root.
PRINTED = """
( (S
    (NP-SBJ-1 (DT The) (NNS brackets) )
    (VP (VBD were)
      (VP (VBN meant)
        (S
          (NP-SBJ (-NONE- *-1) )
          (VP (TO to)
            (VP (VB hold) )))))
    (. .) ))
"""


def printed_files():
    """(name, text) of files as the Penn Treebank prints them: one made by hand, those of a sample if at hand."""
    files = {"by-hand": PRINTED}
    if WSJ.exists():
        files["wsj-sample"] = "".join(file.read_text() for file in sorted(WSJ.glob("*.mrg")))
    return [pytest.param(text, id=name) for name, text in files.items()]


@pytest.mark.parametrize("text", printed_files())
def test_no_tree_and_no_word_is_lost(text, tmp_path):
    (tmp_path / "all.mrg").write_text(text)
    trees = list(read_trees([tmp_path / "all.mrg"]))
    # An empty root begins a line, and nothing else does that.
    assert len(trees) == len(re.findall(r"^\( ?\(", text, re.MULTILINE))
    leaves = re.findall(r"\(([^\s()]+) ([^\s()]+) ?\)", text)
    assert [word for tree in trees for word in tree.words()] == [word for tag, word in leaves if tag != "-NONE-"]
    tags = [tag if tag.startswith("-") else re.split("[-=]", tag)[0] for tag, _ in leaves if tag != "-NONE-"]
    assert [node.label for tree in trees for node in tree.preterminals()] == tags
