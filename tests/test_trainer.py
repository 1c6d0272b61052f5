"""The paper's schedule and optimiser, batches in tokens, and evaluation that counts every example once."""

import math

import pytest
import torch
import torch.utils.benchmark
from datasets import Dataset

from vaswani_mt import VaswaniTrainer, VaswaniTrainingArguments
from vaswani_mt.data.encoding import drop_long, encode
from vaswani_mt.trainer import inverse_sqrt_factor, paper_learning_rate

from .conftest import SENTENCES, small_model

PAIRS = [{"en": SENTENCES[i % 2], "de": SENTENCES[2 + i % 2]} for i in range(5)]


def make_trainer(folder, task, tokenizer, model=None, **settings):
    dataset = encode(Dataset.from_dict({"translation": PAIRS}), task, tokenizer)
    defaults = {"report_to": [], "use_cpu": True, "save_strategy": "no", "tokens_per_batch": 60, "max_steps": 3}
    args = VaswaniTrainingArguments(output_dir=str(folder), disable_tqdm=True, **defaults | settings)
    model = model or small_model(vocab_size=len(tokenizer))
    return VaswaniTrainer(
        model=model, args=args, task=task, train_dataset=dataset, eval_dataset=dataset, processing_class=tokenizer
    )


def test_defaults_are_the_papers():
    args = VaswaniTrainingArguments(use_cpu=True)
    assert (args.adam_beta1, args.adam_beta2, args.adam_epsilon) == (0.9, 0.98, 1e-9)
    assert (args.weight_decay, args.max_grad_norm, args.warmup_steps) == (0, 0, 4000)
    assert args.tokens_per_batch == 25000


def test_learning_rate_is_the_papers_formula_at_every_step(tmp_path, task, tokenizer):
    trainer = make_trainer(tmp_path, task, tokenizer, warmup_steps=4)
    trainer.create_optimizer_and_scheduler(9)
    for step in range(1, 10):
        wanted = 16**-0.5 * min(step**-0.5, step * 4**-1.5)
        assert trainer.lr_scheduler.get_last_lr()[0] == pytest.approx(wanted)
        trainer.optimizer.step()
        trainer.lr_scheduler.step()


def test_the_base_models_peak_is_0_0007():
    # 512^-0.5 * 4000^-0.5 = 6.99e-4
    assert paper_learning_rate(512, 4000) * inverse_sqrt_factor(4000, 4000) == pytest.approx(6.987e-4, rel=1e-3)


def test_a_learning_rate_that_was_given_is_the_peak(tmp_path, task, tokenizer):
    assert make_trainer(tmp_path, task, tokenizer, learning_rate=0.005).args.learning_rate == 0.005


def test_accumulation_follows_from_the_devices_budget():
    args = VaswaniTrainingArguments(tokens_per_batch=25000, max_tokens_per_device=8192, use_cpu=True)
    assert args.gradient_accumulation_steps == 4  # 3.05 batches of 8192, rounded up
    with pytest.raises(ValueError, match="gradient_accumulation_steps=2 is not set by hand"):
        VaswaniTrainingArguments(gradient_accumulation_steps=2, use_cpu=True)


@pytest.mark.parametrize("field", ["tokens_per_batch", "max_tokens_per_device", "average_checkpoints"])
def test_impossible_budgets_are_named(field):
    with pytest.raises(ValueError, match=f"{field}=0 must be at least 1"):
        VaswaniTrainingArguments(use_cpu=True, **{field: 0})


def test_accumulation_changes_nothing_but_memory(tmp_path, task, tokenizer):
    weights = []
    for tokens in (300, 50):  # the five pairs are one step, in one part or in several
        model = small_model(vocab_size=len(tokenizer), dropout=0.0)
        trainer = make_trainer(tmp_path, task, tokenizer, model, tokens_per_batch=300, max_tokens_per_device=tokens)
        assert trainer.args.gradient_accumulation_steps == 300 // tokens
        parts = sum(1 for batch in trainer.get_train_dataloader().batch_sampler if batch)
        assert parts == 1 if tokens == 300 else parts > 1
        trainer.train()
        weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    torch.testing.assert_close(*weights, atol=1e-6, rtol=1e-5)


def test_bf16_is_taken_only_where_its_products_are_no_slower(tmp_path, task, tokenizer):
    left, right = torch.randn(768, 768), torch.randn(768, 768)
    half = left.bfloat16(), right.bfloat16()
    single_us, half_us = (
        torch.utils.benchmark.Timer("a @ b", globals={"a": a, "b": b}).blocked_autorange(min_run_time=0.3).median
        for a, b in ((left, right), half)
    )
    trainer = make_trainer(tmp_path, task, tokenizer, bf16=True)
    if single_us > 1.5 * half_us:
        assert trainer.accelerator.mixed_precision == "bf16"
    elif half_us > 1.5 * single_us:
        assert trainer.accelerator.mixed_precision == "no"
    trainer.train()


def test_evaluation_loss_is_the_mean_over_all_target_tokens(tmp_path, task, tokenizer):
    trainer = make_trainer(tmp_path, task, tokenizer, eval_tokens_per_batch=20)
    metrics = trainer.evaluate()
    total, count = 0.0, 0
    for pair in PAIRS:
        source = torch.tensor([tokenizer(pair["en"])["input_ids"]])
        target = torch.tensor([tokenizer(pair["de"])["input_ids"]])
        with torch.no_grad():
            total += trainer.model(source, labels=target).loss.item() * target.numel()
        count += target.numel()
    assert metrics["eval_loss"] == pytest.approx(total / count, abs=1e-5)
    assert metrics["eval_perplexity"] == pytest.approx(math.exp(total / count), rel=1e-4)
    assert {"eval_bleu", "eval_chrf", "eval_bleu_signature"} <= set(metrics)


def test_predictions_are_those_of_generate_in_order(tmp_path, task, tokenizer):
    trainer = make_trainer(tmp_path, task, tokenizer, eval_tokens_per_batch=20)
    output = trainer.predict(trainer.eval_dataset, num_beams=2, num_return_sequences=2)
    assert output.predictions.shape[0] == 2 * len(PAIRS)
    for i, pair in enumerate(PAIRS):
        source = torch.tensor([tokenizer(pair["en"])["input_ids"]])
        alone = trainer.model.generate(source, num_beams=2, num_return_sequences=2)
        wanted = tokenizer.batch_decode(alone, skip_special_tokens=True)
        assert tokenizer.batch_decode(output.predictions[2 * i : 2 * i + 2], skip_special_tokens=True) == wanted


def test_loss_only_evaluation_generates_nothing(tmp_path, task, tokenizer):
    metrics = make_trainer(tmp_path, task, tokenizer, predict_with_generate=False).evaluate()
    assert "eval_loss" in metrics
    assert "eval_bleu" not in metrics


def test_empty_sets_are_refused(tmp_path, task, tokenizer):
    trainer = make_trainer(tmp_path, task, tokenizer)
    trainer.train_dataset = trainer.train_dataset.select([])
    with pytest.raises(ValueError, match="at least one pair"):
        trainer.get_train_dataloader()
    with pytest.raises(ValueError, match="at least one example"):
        trainer.get_eval_dataloader(trainer.train_dataset)


def test_long_pairs_are_dropped_and_counted(task, tokenizer, caplog):
    dataset = encode(Dataset.from_dict({"translation": PAIRS}), task, tokenizer)
    longest = max(dataset["source_length"])
    kept = drop_long(dataset, longest - 1, None)
    assert 0 < len(kept) < len(dataset)
    assert f"Dropped {len(dataset) - len(kept)} of 5" in caplog.text
    with pytest.raises(ValueError, match="All 5 pairs are longer"):
        drop_long(dataset, 1, 1)
