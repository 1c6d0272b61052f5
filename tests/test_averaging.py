"""Averages by hand, and what may not be averaged."""

import pytest
import torch

from vaswani_mt.averaging import average_checkpoints, last_checkpoints

from .conftest import small_model


def save(folder, step, model):
    model.save_pretrained(folder / f"checkpoint-{step}")
    return folder / f"checkpoint-{step}"


def test_the_mean_is_taken_weight_by_weight_and_ties_stay(tmp_path):
    models = [small_model(seed) for seed in range(3)]
    paths = [save(tmp_path, step, model) for step, model in enumerate(models)]
    averaged = average_checkpoints(paths)
    states = [model.state_dict() for model in models]
    for name, value in averaged.state_dict().items():
        wanted = sum(state[name].double() for state in states) / 3
        torch.testing.assert_close(value, wanted.float(), atol=0, rtol=1e-6)
    assert averaged.lm_head.weight is averaged.model.encoder.embed_tokens.weight


def test_the_mean_of_copies_is_the_copy_bit_for_bit(tmp_path):
    model = small_model()
    paths = [save(tmp_path, step, model) for step in range(7)]
    averaged = average_checkpoints(paths)
    assert all(torch.equal(value, averaged.state_dict()[name]) for name, value in model.state_dict().items())


def test_sharded_weights_are_read(tmp_path):
    model = small_model()
    model.save_pretrained(tmp_path / "sharded", max_shard_size="20KB")
    assert len(list((tmp_path / "sharded").glob("*.safetensors"))) > 1
    averaged = average_checkpoints([tmp_path / "sharded"])
    assert all(torch.equal(value, averaged.state_dict()[name]) for name, value in model.state_dict().items())


def test_the_last_checkpoints_are_found_in_order_of_steps(tmp_path):
    for step in (900, 1000, 80):
        save(tmp_path, step, small_model())
    (tmp_path / "checkpoint-2000").mkdir()  # interrupted: it has no weights
    assert [path.name for path in last_checkpoints(tmp_path, 2)] == ["checkpoint-900", "checkpoint-1000"]
    assert len(last_checkpoints(tmp_path, 10)) == 3


def test_what_cannot_be_averaged_is_named(tmp_path):
    one, other = save(tmp_path, 1, small_model()), save(tmp_path, 2, small_model(encoder_ffn_dim=8))
    with pytest.raises(ValueError, match="encoder_ffn_dim differ"):
        average_checkpoints([one, other])
    with pytest.raises(ValueError, match="No checkpoint"):
        average_checkpoints([])
    with pytest.raises(FileNotFoundError, match="No checkpoint-STEP"):
        last_checkpoints(tmp_path / "nowhere", 3)
