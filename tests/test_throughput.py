"""What is counted, against hand calculation, torch's own counter and the accumulated run."""

import time

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from vaswani_mt.throughput import Throughput, matmul_rate, training_flops, work_of

from .conftest import small_config, small_model
from .test_trainer import PAIRS, make_trainer


def test_operations_are_those_that_torch_counts():
    # Every product of the eager model, forwards and backwards, for sentences without padding.
    model = small_model(attn_implementation="eager", d_k=3, d_v=5, encoder_attention_heads=2).train()
    source, target = torch.full((3, 7), 9), torch.full((3, 5), 9)
    with FlopCounterMode(display=False) as counter:
        logits = model(source, decoder_input_ids=target).logits
        logits.sum().backward()
    found = training_flops(model.config, np.full(3, 7), np.full(3, 5))
    assert found == pytest.approx(counter.get_total_flops(), rel=1e-9)


def test_base_size_is_close_to_six_times_weights_times_tokens():
    # Attention aside: 6 * 63M weights * 25000 tokens, the encoder's on the source and the rest on the target.
    config = small_config(
        **{"vocab_size": 37000, "d_model": 512, "encoder_layers": 6, "decoder_layers": 6},
        **{"encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048},
        decoder_ffn_dim=2048,
    )
    lengths = np.full(1000, 25)
    assert training_flops(config, lengths, lengths) == pytest.approx(6 * 63.0e6 * 25000, rel=0.03)


def test_padding_counts_as_positions_only():
    inputs = {
        "attention_mask": torch.tensor([[1, 1, 1], [1, 1, 0]]),
        "labels": torch.tensor([[5, 6, 7, 2], [5, 2, -100, -100]]),
    }
    work = work_of(inputs, small_config())
    assert (work.source_tokens, work.target_tokens, work.positions) == (5, 6, 14)
    assert work.flops == training_flops(small_config(), np.array([3, 2]), np.array([4, 2]))


def test_a_share_without_pairs_is_no_work():
    inputs = {"attention_mask": torch.ones(1, 1), "labels": torch.full((1, 1), -100)}
    assert work_of(inputs, small_config()).positions == 0


def test_time_while_stopped_does_not_count():
    throughput = Throughput(torch.device("cpu"), torch.float32)
    throughput.on_train_begin(None, None, None)
    inputs = {"attention_mask": torch.ones(2, 3), "labels": torch.ones(2, 3)}
    throughput.add(work_of(inputs, small_config()))
    time.sleep(0.02)
    throughput.on_step_end(None, None, None)
    with throughput.stopped():
        time.sleep(0.3)
    with throughput.stopped():
        found = throughput.figures()
    assert 0.02 <= found["seconds_per_step"] < 0.3
    assert found["source_tokens_per_second"] == pytest.approx(6 / found["seconds_per_step"], rel=1e-3)
    assert found["padding_share"] == 0


def test_the_rate_of_a_product_is_not_beyond_this_worlds_processors_and_draws_no_random_numbers():
    torch.manual_seed(3)
    wanted = torch.rand(1)
    torch.manual_seed(3)
    assert 1e8 < matmul_rate(torch.device("cpu"), torch.float32) < 1e14
    assert torch.equal(torch.rand(1), wanted)


@pytest.mark.parametrize("per_device", [1000, 60])
def test_the_log_has_all_tokens_of_the_step_whatever_the_accumulation(tmp_path, task, tokenizer, per_device):
    trainer = make_trainer(
        tmp_path, task, tokenizer, tokens_per_batch=1000, max_tokens_per_device=per_device, logging_steps=1
    )
    trainer.train()
    source = sum(len(tokenizer(pair["en"])["input_ids"]) for pair in PAIRS)
    target = sum(len(tokenizer(pair["de"])["input_ids"]) for pair in PAIRS)
    for entry in trainer.state.log_history[:3]:
        seconds = entry["seconds_per_step"]
        assert entry["source_tokens_per_second"] * seconds == pytest.approx(source, rel=2e-3)
        assert entry["target_tokens_per_second"] * seconds == pytest.approx(target, rel=2e-3)
        assert 0 <= entry["padding_share"] < 1
        assert entry["mfu"] == pytest.approx(entry["tflops"] * 1e12 / trainer.throughput.peak, rel=2e-3)
        assert entry["grad_norm"] > 0
    lengths = [np.array([len(tokenizer(pair[side])["input_ids"]) for pair in PAIRS]) for side in ("en", "de")]
    assert trainer.state.total_flos == pytest.approx(3 * training_flops(trainer.model.config, *lengths))
