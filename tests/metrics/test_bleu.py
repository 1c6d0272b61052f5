"""BLEU against hand calculations, and against multi-bleu.perl and sacreBLEU on real German."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vaswani_mt import metrics

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "bleu"


@pytest.fixture(scope="module")
def bleu():
    return metrics.load("bleu")


def printed(result):
    """A result in the form in which multi-bleu.perl prints it."""
    precisions = "/".join(f"{p:.1f}" for p in result["precisions"])
    ratio = result["sys_len"] / result["ref_len"]
    return (
        f"BLEU = {result['score']:.2f}, {precisions} (BP={result['bp']:.3f}, ratio={ratio:.3f}, "
        f"hyp_len={result['sys_len']}, ref_len={result['ref_len']})"
    )


def golden(side):
    return (GOLDEN / f"{side}.de").read_text().split("\n")[:-1]


def multi_bleu_cases():
    """(hypotheses, references, settings, what multi-bleu.perl prints); one by hand, those of a real run if at hand."""
    line = "BLEU = 66.87, 80.0/75.0/66.7/50.0 (BP=1.000, ratio=1.000, hyp_len=5, ref_len=5)"
    cases = [pytest.param(["a b c d e"], ["a b c d f"], {"tokenize": "none"}, line, id="by-hand")]
    if GOLDEN.exists():
        expected = json.loads((GOLDEN / "expected.json").read_text())
        for name, settings in (
            ("tokenized", {}),
            ("tokenized_lowercase", {"lowercase": "ascii"}),
            ("compound_split", {"split_compounds": True}),
        ):
            settings = {"tokenize": "none"} | settings
            cases.append(pytest.param(golden("hyp"), golden("ref"), settings, expected[name], id=f"golden-{name}"))
    return cases


@pytest.mark.parametrize(("hypotheses", "references", "settings", "line"), multi_bleu_cases())
def test_equals_multi_bleu_to_the_printed_digits(bleu, hypotheses, references, settings, line):
    assert printed(bleu.compute(predictions=hypotheses, references=references, **settings)) == line


def sacrebleu_cases():
    """(hypotheses, references, what sacreBLEU prints); one by hand, that of a real run if at hand."""
    line = "BLEU = 66.87 80.0/75.0/66.7/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)"
    cases = [pytest.param(["a b c d."], ["a b c d!"], line, id="by-hand")]  # 13a parts the full stop from the word
    if GOLDEN.exists():
        expected = json.loads((GOLDEN / "expected.json").read_text())["sacrebleu_13a"]
        cases.append(pytest.param(golden("hyp"), golden("ref"), expected, id="golden"))
    return cases


@pytest.mark.parametrize(("hypotheses", "references", "line"), sacrebleu_cases())
def test_13a_equals_sacrebleu_to_the_printed_digits(bleu, hypotheses, references, line):
    result = bleu.compute(predictions=hypotheses, references=references)
    precisions = "/".join(f"{p:.1f}" for p in result["precisions"])
    ratio = result["sys_len"] / result["ref_len"]
    assert line == (
        f"BLEU = {result['score']:.2f} {precisions} (BP = {result['bp']:.3f} ratio = {ratio:.3f} "
        f"hyp_len = {result['sys_len']} ref_len = {result['ref_len']})"
    )
    assert result["signature"] == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def test_lowering_every_letter_differs_from_multi_bleu_which_lowers_ascii(bleu):
    pair = {"predictions": ["Ä A b c d"], "references": ["ä a b c d"], "tokenize": "none"}
    assert bleu.compute(**pair, lowercase="ascii")["counts"] == [4, 3, 2, 1]
    assert bleu.compute(**pair, lowercase=True)["counts"] == [5, 4, 3, 2]
    assert bleu.compute(**pair)["counts"] == [3, 2, 1, 0]


def test_a_sentence_by_hand(bleu):
    # "a b c d e" against "a b c d f": 4/5 words, 3/4 pairs, 2/3 triples, 1/2 quadruples; equal length.
    result = bleu.compute(predictions=["a b c d e"], references=["a b c d f"], tokenize="none")
    assert result["counts"] == [4, 3, 2, 1]
    assert result["totals"] == [5, 4, 3, 2]
    assert result["score"] == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_brevity_penalty_by_hand(bleu):
    result = bleu.compute(predictions=["a b c d"], references=["a b c d e"], tokenize="none")
    assert result["score"] == pytest.approx(100 * math.exp(1 - 5 / 4))


def test_tokenised_bleu_is_not_smoothed_and_13a_is(bleu):
    pair = {"predictions": ["a b c x"], "references": ["a b c d"]}
    assert bleu.compute(**pair, tokenize="none")["score"] == 0
    assert bleu.compute(**pair)["score"] > 0


def test_compounds_split_as_the_perl_expression_does(bleu):
    # "x-y-z" becomes "x ##AT##-##AT## y-z": three words.
    result = bleu.compute(predictions=["x-y-z"], references=["x-y-z"], tokenize="none", split_compounds=True)
    assert result["sys_len"] == 3
    assert "tok:none+compound-split" in result["signature"]


def test_moses_tokenises_both_sides(bleu):
    text = ["Ein Hund, z.B."]
    result = bleu.compute(predictions=text, references=text, tokenize="moses", language="de")
    assert result["sys_len"] == 4  # Ein / Hund / , / z.B.
    assert "tok:moses-de" in result["signature"]


def test_the_nearest_of_several_references_counts_for_length(bleu):
    result = bleu.compute(predictions=["a b c d"], references=[["a b c d e f", "a b c"]], tokenize="none")
    assert result["ref_len"] == 3
    assert "nrefs:2" in result["signature"]


def test_empty_hypotheses_are_scored(bleu):
    result = bleu.compute(predictions=["", "a b c d"], references=["x y", "a b c d"], tokenize="none")
    assert result["sys_len"] == 4
    assert result["ref_len"] == 6


@pytest.mark.parametrize(
    ("predictions", "references", "settings", "message"),
    [
        (["a", "b"], ["a"], {}, "2 predictions but references for 1 segments"),
        (["a", "b", "c"], [["a", "b", "c"], ["d", "e", "f"]], {}, "transposed"),
        (["a", "b"], [["a"], ["b", "c"]], {}, "segment 1 has 2 and segment 0 has 1"),
        (["a", "b"], [["a"], []], {}, "same number of references"),
        (["a", None], ["a", "b"], {}, "prediction 1 is None"),
        (["a", "b"], ["a", 3], {}, "reference 1 is 3"),
        ([], [], {}, "Nothing to score"),
        ("abc", ["abc"], {}, "must be lists"),
        (["a"], ["a"], {"tokenize": "14a"}, "must be one of 13a"),
        (["a"], ["a"], {"tokenize": "moses"}, "language='de'"),
        (["a"], ["a"], {"split_compounds": True}, "split_compounds needs"),
        (["a"], ["a"], {"lowercase": "yes"}, "must be True, False or 'ascii'"),
    ],
)
def test_bad_input_is_named(bleu, predictions, references, settings, message):
    with pytest.raises(ValueError, match=message):
        bleu.compute(predictions=predictions, references=references, **settings)


def test_an_unknown_metric_lists_the_known_ones():
    with pytest.raises(ValueError, match="bleu, chrf"):
        metrics.load("bluh")


@pytest.mark.parametrize(("name", "score"), [("bleu", 100.0), ("chrf", 100.0)])
def test_loads_by_path_offline_from_anywhere(tmp_path, name, score):
    program = (
        "import evaluate\n"
        f"metric = evaluate.load({str(metrics.FOLDER / name)!r})\n"
        "print(metric.compute(predictions=['a b c d'], references=['a b c d'])['score'])"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert float(run.stdout.split()[-1]) == pytest.approx(score)
