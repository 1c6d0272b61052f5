"""chrF against a hand calculation."""

import pytest

from vaswani_mt import metrics


def test_two_letters_by_hand():
    # "ab" against "ac": 1 of 2 single characters match, no pair does; longer n-grams do not occur.
    # Mean precision and recall over n = 1, 2 are (1/2 + 0) / 2 each, hence F = 1/4.
    result = metrics.load("chrf").compute(predictions=["ab"], references=["ac"])
    assert result["score"] == pytest.approx(25.0)
    assert "nw:0" in result["signature"]


def test_word_order_two_is_chrf_plus_plus():
    result = metrics.load("chrf").compute(predictions=["a b"], references=["a b"], word_order=2)
    assert result["score"] == pytest.approx(100.0)
    assert "nw:2" in result["signature"]


def test_ragged_references_are_refused():
    with pytest.raises(ValueError, match="same number of references"):
        metrics.load("chrf").compute(predictions=["a", "b"], references=[["a"], ["b", "c"]])
