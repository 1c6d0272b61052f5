"""PARSEVAL against the program EVALB with COLLINS.prm, and against hand calculations."""

import sys
from pathlib import Path

import pytest

from vaswani_mt import metrics

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "evalb"


@pytest.fixture(scope="module")
def parseval():
    return metrics.load("parseval")


def compute(parseval, prediction, reference):
    return parseval.compute(predictions=[prediction], references=[reference], per_sentence=True)


# By hand: gold S, NP, VP over 2 words (the full stop is deleted); predicted S, VP: recall 2/3, precision 2/2, one of
# two tags; then a sentence with another word, and one without output.
GOLD = [
    "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
    "(TOP (S (NP (PRP It)) (VP (VBZ works))))",
    "(TOP (NP (NN x)))",
]
TEST = ["(TOP (S (NN It) (VP (VBZ works)) (. .)))", "(TOP (S (NP (PRP It)) (VP (VBZ worked))))", ""]
ROWS = [
    "   1    3    0   66.67 100.00     2      3    2      0      2     1    50.00",
    "   2    2    1    0.00   0.00     0      0    0      0      0     0     0.00",
    "   3    1    2    0.00   0.00     0      0    0      0      0     0     0.00",
]
BLOCK = [
    "Number of sentence        =      3",
    "Number of Error sentence  =      1",
    "Number of Skip  sentence  =      1",
    "Number of Valid sentence  =      1",
    "Bracketing Recall         =  66.67",
    "Bracketing Precision      = 100.00",
    "Bracketing FMeasure       =  80.00",
    "Complete match            =   0.00",
    "Average crossing          =   0.00",
    "No crossing               = 100.00",
    "2 or less crossing        = 100.00",
    "Tagging accuracy          =  50.00",
]


def parts(text):
    """What EVALB prints -> the rows of the sentences, and the lines of the two summaries."""
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if line.startswith("=====")]
    rows = lines[rules[0] + 1 : rules[1]]
    return rows, [line for line in lines[rules[1] :] if " = " in line]


def evalb_cases():
    """(gold, predicted, rows, summaries): one by hand, those of the program if at hand."""
    cases = [pytest.param(GOLD, TEST, ROWS, BLOCK * 2, id="by-hand")]
    if GOLDEN.exists():
        gold, test = ((GOLDEN / f"{name}.trees").read_text().split("\n")[:-1] for name in ("gold", "pred"))
        cases.append(pytest.param(gold, test, *parts((GOLDEN / "expected.txt").read_text()), id="evalb"))
    return cases


@pytest.mark.parametrize(("gold", "test", "rows", "summaries"), evalb_cases())
def test_equals_evalb_to_the_printed_digits(parseval, gold, test, rows, summaries):
    result = parseval.compute(predictions=test, references=gold, per_sentence=True)
    # The functions of a metric loaded by path are in the module that was made of it.
    format_evalb = sys.modules[type(parseval).__module__].format_evalb
    assert parts(format_evalb(result["rows"])) == (rows, summaries)
    assert result["sentences"] == len(rows)


def test_strict_figures_leave_no_sentence_out(parseval):
    # 2 brackets found of the 3 + 3 + 1 there are; of the 2 predicted in scored sentences both are right.
    result = parseval.compute(predictions=TEST, references=GOLD)
    assert result["strict_recall"] == pytest.approx(200 / 7)
    assert result["strict_precision"] == 100
    assert result["strict_f1"] == pytest.approx(2 * 2 / (7 + 2) * 100)
    assert result["signature"] == "parseval|params:collins|cutoff:40|errors:1|skipped:1"


@pytest.mark.parametrize(
    ("reference", "prediction", "matched", "gold", "test"),
    [
        # Functional tags and indices count for nothing.
        ("(TOP (S (NP-SBJ-1 (NN a)) (VP=2 (VB b))))", "(TOP (S (NP (NN a)) (VP (VB b))))", 3, 3, 3),
        # X over X is two brackets.
        ("(TOP (NP (NP (NN a) (NN b))))", "(TOP (NP (NN a) (NN b)))", 1, 2, 1),
        # Punctuation goes, and brackets with it: both NP are over the one word.
        ("(TOP (S (NP (NN a) (, ,)) (VP (VB b))))", "(TOP (S (NP (NN a)) (, ,) (VP (VB b))))", 3, 3, 3),
        ("(TOP (S (X (, ,)) (VP (VB b))))", "(TOP (S (, ,) (VP (VB b))))", 2, 2, 2),
        # PRT is ADVP.
        ("(TOP (VP (VB a) (PRT (RP up))))", "(TOP (VP (VB a) (ADVP (RP up))))", 2, 2, 2),
        # Words that are brackets.
        ("(TOP (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))", "(TOP (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))", 1, 1, 1),
        # Another label, the same words.
        ("(TOP (S (NP (NN a)) (VP (VB b))))", "(TOP (S (VP (NN a)) (VP (VB b))))", 2, 3, 3),
    ],
)
def test_brackets_by_hand(parseval, reference, prediction, matched, gold, test):
    (row,) = compute(parseval, prediction, reference)["rows"]
    assert (row["status"], row["matched"], row["gold"], row["test"]) == (0, matched, gold, test)


def test_crossing_by_hand(parseval):
    # Predicted (b c) crosses gold (a b).
    (row,) = compute(parseval, "(TOP (S (NN a) (X (NN b) (NN c))))", "(TOP (S (X (NN a) (NN b)) (NN c)))")["rows"]
    assert row["crossing"] == 1


def test_a_punctuation_tag_on_a_word_is_an_error_as_in_evalb(parseval):
    result = compute(parseval, "(TOP (NP (, a) (NN b)))", "(TOP (NP (NN a) (NN b)))")
    assert result["errors"] == 1
    assert result["rows"][0]["message"] == "2 words, 1 predicted"
    assert result["strict_f1"] == 0


def test_a_malformed_prediction_is_an_error_and_malformed_gold_is_refused(parseval):
    assert compute(parseval, "(TOP (NP (NN a))", "(TOP (NP (NN a)))")["errors"] == 1
    with pytest.raises(ValueError, match="Gold tree 1 is malformed: 1 closing brackets missing"):
        compute(parseval, "(TOP (NP (NN a)))", "(TOP (NP (NN a))")
    with pytest.raises(ValueError, match="Gold tree 1 is malformed: it is empty"):
        compute(parseval, "(TOP (NP (NN a)))", "")


def test_more_predictions_than_gold_trees_are_refused(parseval):
    with pytest.raises(ValueError, match=r"[Mm]ismatch|number of"):
        parseval.compute(predictions=TEST, references=GOLD[:2])
