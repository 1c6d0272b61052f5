"""How fast a run trains: tokens a second, padding, floating-point operations beside what the hardware can do."""

import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from accelerate import PartialState
from accelerate.utils import reduce
from transformers import PreTrainedConfig, TrainerCallback

from .data.batching import IGNORED


@dataclass
class Work:
    """What one batch or several asked for.

    Attributes:
        source_tokens, target_tokens: without padding.
        positions: of both sides, with padding.
        flops: floating-point operations of the model, forwards and backwards; see `training_flops`.
    """

    source_tokens: int = 0
    target_tokens: int = 0
    positions: int = 0
    flops: float = 0.0

    def __iadd__(self, other: "Work") -> "Work":
        self.source_tokens += other.source_tokens
        self.target_tokens += other.target_tokens
        self.positions += other.positions
        self.flops += other.flops
        return self


def training_flops(config: PreTrainedConfig, source_lengths: np.ndarray, target_lengths: np.ndarray) -> float:
    """Floating-point operations of a forward and a backward pass over pairs of these lengths.

    Those of the matrix products, which are nearly all: 2 for each weight and token that meet, 2 for each pair of
    positions and element of a head in the scores and again in the weighted sum (a causal mask saves none, as is usual
    to count); the backward pass takes twice as many as the forward pass. Padding does not count: it is no use.

    Args:
        config: a `VaswaniConfig`.
        source_lengths, target_lengths: [n], tokens of each pair.
    """
    source, target = source_lengths.astype(np.float64), target_lengths.astype(np.float64)
    model = config.d_model

    def heads(number: int) -> tuple[int, int]:
        """Width of all queries (or keys), and of all values."""
        return number * (config.d_k or model // number), number * (config.d_v or model // number)

    keys, values = heads(config.encoder_attention_heads)
    weights = 2 * model * (keys + values) + 2 * model * config.encoder_ffn_dim
    encoder = weights * source.sum() + (keys + values) * (source * source).sum()
    keys, values = heads(config.decoder_attention_heads)
    weights = 3 * model * (keys + values) + 2 * model * config.decoder_ffn_dim
    decoder = weights * target.sum() + (keys + values) * (target * target + target * source).sum()
    decoder += model * (keys + values) * source.sum()  # the cross-attention's keys and values
    projection = model * config.target_vocab_size * target.sum()
    return 3 * 2 * float(config.encoder_layers * encoder + config.decoder_layers * decoder + projection)


def work_of(inputs: Mapping[str, torch.Tensor], config: PreTrainedConfig) -> Work:
    """The work of one micro-batch. As the collator makes it, it is on the CPU and nothing waits for an accelerator."""
    source = inputs["attention_mask"].cpu().numpy().sum(-1)
    target = (inputs["labels"].cpu().numpy() != IGNORED).sum(-1)
    if not target.any():  # a share of a step that holds no pair
        return Work()
    return Work(
        source_tokens=int(source.sum()),
        target_tokens=int(target.sum()),
        positions=inputs["attention_mask"].numel() + inputs["labels"].numel(),
        flops=training_flops(config, source, target),
    )


def matmul_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Floating-point operations a second of a large matrix product on this device: the most to be had."""
    size = 1024 if device.type == "cpu" else 4096
    generator = torch.Generator(device)  # the run's own random numbers stay what they are
    left, right = (torch.randn(size, size, device=device, dtype=dtype, generator=generator) for _ in range(2))
    product = torch.empty_like(left)
    trials = []
    for _ in range(5):
        start = time.perf_counter()
        torch.mm(left, right, out=product)
        product[0, 0].item()  # waits for it
        trials.append(time.perf_counter() - start)
    return 2 * size**3 / min(trials)


class Throughput(TrainerCallback):
    """Counts the work of all processes and the time it takes, without that of evaluating and saving.

    Args:
        device: that trains, one for each process.
        dtype: of its matrix products.

    Attributes:
        peak: operations a second of all processes' devices in a plain matrix product, measured when training begins.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype):
        self.device, self.dtype, self.peak = device, dtype, 0.0
        self._restart()

    def _restart(self) -> None:
        self._work, self._steps, self._seconds = Work(), 0, 0.0

    def on_train_begin(self, args, state, control, **kwargs):
        PartialState().wait_for_everyone()  # processes that share a machine share it here too
        rate = torch.tensor(matmul_rate(self.device, self.dtype), device=self.device)
        self.peak = float(reduce(rate, "sum"))
        self._restart()
        self._started = time.perf_counter()

    def on_step_end(self, args, state, control, **kwargs):
        self._steps += 1

    def add(self, work: Work) -> None:
        """Count a micro-batch of this process."""
        self._work += work

    @contextmanager
    def stopped(self):
        """The clock stands still in here: for evaluating and saving."""
        self._seconds += time.perf_counter() - self._started
        try:
            yield
        finally:
            self._started = time.perf_counter()

    def figures(self) -> dict[str, float]:
        """Since the last call, over all processes, which call it together while the clock is stopped.

        Returns:
            source_tokens_per_second and target_tokens_per_second, without padding; padding_share of all positions;
            tflops: 10^12 operations of the model (`training_flops`) a second; mfu: these as a share of `peak`;
            seconds_per_step.
        """
        work = self._work
        counts = torch.tensor([work.source_tokens, work.target_tokens, work.positions, work.flops / 1e6])
        source, target, positions, megaflops = reduce(counts.to(self.device), "sum").tolist()
        rate = megaflops * 1e6 / self._seconds
        found = {
            "source_tokens_per_second": source / self._seconds,
            "target_tokens_per_second": target / self._seconds,
            "padding_share": 1 - (source + target) / positions,
            "tflops": rate / 1e12,
            "mfu": rate / self.peak,
            "seconds_per_step": self._seconds / self._steps,
        }
        self._restart()
        return {name: float(f"{value:.4g}") for name, value in found.items()}
