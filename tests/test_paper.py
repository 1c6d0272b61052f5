"""Parameter counts of every model of Table 3, against the figures that the paper prints."""

import pytest
import torch

from vaswani_mt import VaswaniForConditionalGeneration
from vaswani_mt.paper import PAPER, paper_config

COUNTED = [row for row in PAPER["table3"] if "parameters" in row]
# Differences from base in millions, which hold for any vocabulary of the same width.
DIFFERENCES = [
    ({"d_k": 16}, -7),
    ({"d_k": 32}, -5),
    ({"layers": 2}, -29),
    ({"layers": 4}, -15),
    ({"layers": 8}, 15),
    ({"d_ff": 1024}, -12),
    ({"d_ff": 4096}, 25),
]


def millions(change):
    with torch.device("meta"):
        model = VaswaniForConditionalGeneration(paper_config(change))
    model.tie_weights()
    return model.num_parameters() / 1e6


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: f"{row['row']}-{row['change']}")
def test_parameter_count_is_that_of_table_3(row):
    tolerance = 5 if row["change"].get("d_model") == 1024 else 3
    assert millions(row["change"]) == pytest.approx(row["parameters"], abs=tolerance)


@pytest.mark.parametrize(("change", "difference"), DIFFERENCES, ids=str)
def test_difference_from_base_is_that_of_table_3(change, difference):
    assert millions(change) - millions({}) == pytest.approx(difference, abs=1)


def test_rows_without_a_count_differ_from_base_only_where_they_must():
    # Row A splits the same width into other heads; rows D change no matrix; row E adds two tables of positions.
    base = millions({})
    for row in PAPER["table3"]:
        if "parameters" not in row and row["row"] in "AD":
            assert millions(row["change"]) == base
    assert millions({"position_embedding": "learned"}) - base == pytest.approx(2 * 1024 * 512 / 1e6)


def test_counts_with_37000_symbols_are_63_0_and_214_2_million():
    assert millions({}) == pytest.approx(63.0, abs=0.1)
    big = next(row for row in PAPER["table3"] if row["row"] == "big")
    assert millions(big["change"]) == pytest.approx(214.2, abs=0.3)
