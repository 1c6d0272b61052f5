"""Every pair once, the budget kept, the same global batches for any number of processes."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vaswani_mt.data.batching import PairCollator, TokenBatchSampler, cut_batches, padding_share
from vaswani_mt.data.grammar import splits

lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=120)


@settings(max_examples=150, deadline=None)
@given(pairs=lengths, tokens=st.integers(40, 300), seed=st.integers(0, 5), epoch=st.integers(0, 3))
def test_every_pair_once_and_no_budget_exceeded(pairs, tokens, seed, epoch):
    source, target = np.array(pairs).T
    sampler = TokenBatchSampler(source, target, tokens, seed=seed)
    sampler.set_epoch(epoch)
    batches = sampler.epoch_batches()
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(pairs)))
    assert len(batches) == sampler.num_batches == len(sampler)
    for batch in batches:
        assert len(batch) * max(source[batch].max(), target[batch].max()) <= tokens


@settings(max_examples=60, deadline=None)
@given(pairs=lengths, world=st.integers(1, 5), parts=st.integers(1, 6))
def test_any_number_of_processes_takes_the_same_global_batches(pairs, world, parts):
    source, target = np.array(pairs).T
    samplers = [
        TokenBatchSampler(source, target, 40 * parts, micro_batches=parts, seed=7, rank=rank, num_processes=world)
        for rank in range(world)
    ]
    wanted = [batch.tolist() for batch in samplers[0].epoch_batches()]
    shares = [list(sampler) for sampler in samplers]
    assert {len(share) for share in shares} == {len(sampler) for sampler in samplers}
    accumulation = math.ceil(parts / world)
    for step in range(math.ceil(len(wanted) / parts)):
        dealt = [share[step * accumulation + a] for share in shares for a in range(accumulation)]
        # Each part whole, on one process, and none twice.
        assert sorted(part for part in dealt if part) == sorted(wanted[step * parts : (step + 1) * parts])
        for side in (source, target):
            assert sum(len(part) * side[part].max() for part in dealt if part) <= 40 * parts


def test_epochs_differ_and_repeat():
    source = target = np.arange(1, 200) % 20 + 1
    sampler = TokenBatchSampler(source, target, 100, seed=1)
    first = list(sampler)
    sampler.set_epoch(1)
    second = list(sampler)
    assert first != second
    assert len(first) == len(second)
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(TokenBatchSampler(source, target, 100, seed=2)) != first


def test_without_shuffling_the_shortest_come_first():
    sampler = TokenBatchSampler([5, 1, 3], [5, 1, 3], 5, shuffle=False)
    assert list(sampler) == [[1], [2], [0]]


def test_batches_are_cut_by_hand():
    # Budget 12: (2, 2, 3) takes 9, a fourth of 4 would take 16; then (4, 4, 4) takes 12.
    assert cut_batches(np.array([2, 2, 3, 4, 4, 4]), np.array([1, 1, 1, 1, 1, 4]), 12).tolist() == [0, 3, 6]


def test_padding_share_by_hand():
    # 2 + 4 tokens in 2 x 4 positions, 3 in 3: 2 of 11 positions are padding.
    assert padding_share(np.array([2, 4, 3]), [np.array([0, 1]), np.array([2])]) == pytest.approx(2 / 11)


MULTI30K = Path(__file__).parents[3] / "shared" / "data" / "multi30k" / "lc_tok"


def corpus_lengths():
    """Words and end symbol of real pairs: of the embedded corpus, and of Multi30k if at hand."""
    quadruples = splits({"train": 20_000})["train"]
    sides = {"embedded": [[quadruple.en for quadruple in quadruples], [quadruple.de for quadruple in quadruples]]}
    if MULTI30K.exists():
        sides["multi30k"] = [(MULTI30K / f"train.{side}").read_text().split("\n")[:-1] for side in ("en", "de")]
    return [
        pytest.param(*(np.array([len(line.split()) + 1 for line in lines]) for lines in pair), id=name)
        for name, pair in sides.items()
    ]


@pytest.mark.parametrize(("source", "target"), corpus_lengths())
def test_padding_is_at_most_five_per_cent_of_either_side_at_25000_tokens(source, target):
    batches = TokenBatchSampler(source, target, 25000, micro_batches=8).epoch_batches()
    assert padding_share(source, batches) <= 0.05
    assert padding_share(target, batches) <= 0.05


def test_a_pair_longer_than_the_budget_is_refused():
    with pytest.raises(ValueError, match="A pair of 30 tokens does not fit a batch of 20"):
        TokenBatchSampler([3, 30], [3, 4], 20)


def test_lengths_of_different_number_are_refused():
    with pytest.raises(ValueError, match="2 source lengths and 1 target lengths"):
        TokenBatchSampler([1, 2], [1], 20)


def test_a_rank_beyond_the_processes_is_refused():
    with pytest.raises(ValueError, match="rank=2"):
        TokenBatchSampler([1], [1], 20, rank=2, num_processes=2)


def test_the_collator_pads_each_side():
    batch = PairCollator(0)(
        [{"input_ids": [5, 6, 2], "labels": [7, 2]}, {"input_ids": [5, 2], "labels": [7, 8, 9, 2]}]
    )
    assert batch["input_ids"].tolist() == [[5, 6, 2], [5, 2, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["labels"].tolist() == [[7, 2, -100, -100], [7, 8, 9, 2]]


def test_no_pairs_make_a_batch_without_targets():
    batch = PairCollator(0)([])
    assert batch["input_ids"].shape == (1, 1)
    assert (batch["labels"] == -100).all()
    assert torch.equal(batch["attention_mask"], torch.ones(1, 1, dtype=torch.long))
