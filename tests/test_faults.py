"""Losses and gradients that are not finite."""

import math

import pytest
import torch

from vaswani_mt import VaswaniTrainingArguments
from vaswani_mt.faults import MOST_SKIPS_IN_A_ROW

from .conftest import SENTENCES, small_model
from .test_trainer import make_trainer


def poisoned_model(tokenizer):
    """A symbol that only the second English sentence has turns everything it touches into NaN."""
    model = small_model(vocab_size=len(tokenizer), weight_tying="none", dropout=0.0)
    first, second = (set(tokenizer(sentence)["input_ids"]) for sentence in SENTENCES[:2])
    with torch.no_grad():
        model.model.encoder.embed_tokens.weight[min(second - first)] = math.nan
    return model


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items() if "encoder.embed" not in name}


def test_a_loss_of_nan_stops_the_run_and_names_step_batch_and_rows(tmp_path, task, tokenizer):
    trainer = make_trainer(tmp_path, task, tokenizer, poisoned_model(tokenizer), tokens_per_batch=1000)
    before = weights(trainer.model)
    with pytest.raises(FloatingPointError, match=r"Step 1 \(batch 1 of epoch 1\): losses nan, gradient norm nan") as e:
        trainer.train()
    assert "Rows of the training set: [" in str(e.value)
    assert "--on_nonfinite skip" in str(e.value)
    assert all(torch.equal(value, before[name]) for name, value in weights(trainer.model).items())


def test_only_the_rows_of_the_micro_batch_to_blame_are_named(tmp_path, task, tokenizer):
    trainer = make_trainer(
        tmp_path, task, tokenizer, poisoned_model(tokenizer), tokens_per_batch=400, max_tokens_per_device=40
    )
    with pytest.raises(FloatingPointError) as error:
        trainer.train()
    named = error.value.args[0].split("training set: ")[1].split(". Nothing")[0]
    parts = [{int(row) for row in part.strip("[]").split(", ")} for part in named.split("; ")]
    assert set().union(*parts) >= {1, 3}  # of five pairs, those with the second sentence
    assert all(part & {1, 3} for part in parts)
    assert not {2, 4} & set().union(*parts)


def test_skipping_leaves_the_update_out_and_goes_on(tmp_path, task, tokenizer, caplog):
    trainer = make_trainer(
        tmp_path,
        task,
        tokenizer,
        poisoned_model(tokenizer),
        tokens_per_batch=45,
        max_steps=6,
        on_nonfinite="skip",
        logging_steps=1,
    )
    before = weights(trainer.model)
    trainer.train()
    after = weights(trainer.model)
    assert trainer.state.global_step == 6
    assert 0 < trainer.guard.skipped < 6
    assert f"This update is left out ({trainer.guard.skipped} so far)" in caplog.text
    assert all(torch.isfinite(value).all() for value in after.values())
    assert any(not torch.equal(value, before[name]) for name, value in after.items())


def test_a_run_of_nothing_but_nan_ends(tmp_path, task, tokenizer):
    trainer = make_trainer(
        tmp_path,
        task,
        tokenizer,
        poisoned_model(tokenizer),
        tokens_per_batch=1000,
        max_steps=100,
        on_nonfinite="skip",
    )
    with pytest.raises(FloatingPointError, match=f"step {MOST_SKIPS_IN_A_ROW} in a row"):
        trainer.train()


def test_an_unknown_choice_is_refused():
    with pytest.raises(ValueError, match="on_nonfinite='ignore' must be 'stop' or 'skip'"):
        VaswaniTrainingArguments(use_cpu=True, on_nonfinite="ignore")
