"""Training on a corpus that is read as it comes: shuffled in a buffer, batched by length, resumable at any step."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset
from transformers.utils import logging

from .batching import PairCollator, TokenBatchSampler

logger = logging.get_logger(__name__)

CHUNK = 1000  # pairs that are read and encoded at a time
START = {"epoch": 0, "shard": 0, "examples": None, "row": 0, "dropped": 0, "buffer": 0, "batches": 0}


@dataclass
class _Buffer:
    """Encoded pairs that are shuffled together.

    Attributes:
        start: the stream's state before its first pair.
        rows: where its pairs stand in the epoch, counted from 0.
    """

    start: dict[str, Any]
    pairs: list[dict[str, np.ndarray]]
    rows: list[int]


class PairStream(IterableDataset):
    """Pairs of a corpus that is never all in memory nor on disk, encoded while they are read, epoch after epoch.

    The order of the corpus' shards is new in every epoch; within `buffer_size` pairs the order is that of
    `TokenBatchSampler`.

    Args:
        dataset: the pairs, in one or (better) many shards.
        encode: a batch of examples -> columns input_ids and labels (`Task.encode` with the tokenizer).
        max_source_length, max_target_length: longer pairs are dropped, and counted in the log; None: no limit.
        buffer_size: pairs that are shuffled and batched together.

    Raises:
        ValueError: a buffer of no pairs.
    """

    def __init__(
        self,
        dataset: datasets.IterableDataset,
        encode: Callable[[dict[str, list]], dict[str, list]],
        *,
        max_source_length: int | None = None,
        max_target_length: int | None = None,
        buffer_size: int = 100_000,
    ):
        if buffer_size < 1:
            raise ValueError(f"A shuffle buffer of {buffer_size} pairs holds none: it must be at least 1.")
        self.dataset, self.encode, self.buffer_size = dataset, encode, buffer_size
        self.limits = (max_source_length, max_target_length)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("A PairStream is read by a StreamLoader.")

    def fill(self, seed: int, state: dict[str, Any], log: bool = True) -> Iterator[_Buffer | None]:
        """Buffers without end, from `state` on; None in between, after every `CHUNK` pairs, so that the caller can
        use the time while a buffer fills. With `log` the end of an epoch is told, and how many pairs were dropped.

        Raises:
            ValueError: an epoch without any pair.
        """
        state = dict(state, batches=0)
        while True:
            order = np.random.default_rng((seed, state["epoch"])).permutation(self.dataset.num_shards)
            buffer, dropped, row = _Buffer(state, [], []), state["dropped"], state["row"]
            for chunk, place in self._chunks(order, state):
                pairs, rows = self._encoded(chunk, row)
                row, dropped = row + len(chunk), dropped + len(chunk) - len(pairs)
                buffer.pairs += pairs
                buffer.rows += rows
                if len(buffer.pairs) >= self.buffer_size:
                    yield buffer
                    state = state | place | {"row": row, "dropped": dropped, "buffer": state["buffer"] + 1}
                    buffer = _Buffer(state, [], [])
                else:
                    yield None
            limits = f"max_source_length={self.limits[0]} or max_target_length={self.limits[1]} tokens"
            if row == dropped:
                raise ValueError(f"The stream has no pair to train on: {row} were read, all longer than {limits}.")
            if buffer.pairs:
                yield buffer
            if log:
                logger.warning(
                    f"Epoch {state['epoch'] + 1} of the stream: {row} pairs, of them {dropped} dropped as longer than "
                    f"{limits}."
                )
            state = START | {"epoch": state["epoch"] + 1, "buffer": state["buffer"] + 1}

    def _chunks(self, order: np.ndarray, state: dict[str, Any]) -> Iterator[tuple[list[dict], dict[str, Any]]]:
        """Up to CHUNK examples of one shard at a time, and the place in the corpus after them."""
        examples = state["examples"]
        for number in range(state["shard"], len(order)):
            shard = self.dataset.shard(len(order), int(order[number]))
            if examples is not None:
                shard.load_state_dict(examples)
            chunk = []
            for example in shard:
                chunk.append(example)
                if len(chunk) == CHUNK:
                    yield chunk, {"shard": number, "examples": shard.state_dict()}
                    chunk = []
            if chunk:
                yield chunk, {"shard": number + 1, "examples": None}
            examples = None

    def _encoded(self, examples: list[dict], row: int) -> tuple[list[dict[str, np.ndarray]], list[int]]:
        columns = self.encode({name: [example[name] for example in examples] for name in examples[0]})
        pairs, rows = [], []
        for number, (source, target) in enumerate(zip(columns["input_ids"], columns["labels"], strict=True)):
            lengths = zip((len(source), len(target)), self.limits, strict=True)
            if all(limit is None or length <= limit for length, limit in lengths):
                pairs.append({"input_ids": np.array(source), "labels": np.array(target)})
                rows.append(row + number)
        return pairs, rows


class _Steps(IterableDataset):
    """One process's micro-batches of a stream: (inputs, rows, the stream's state after them)."""

    def __init__(self, stream: PairStream, collator: PairCollator, tokens_per_batch: int, state: dict, sampling: dict):
        self.stream, self.collator, self.tokens_per_batch = stream, collator, tokens_per_batch
        self.state, self.sampling = state, sampling

    def __iter__(self) -> Iterator[tuple[dict[str, torch.Tensor], list[int], dict[str, Any]]]:
        filling = self.stream.fill(self.sampling["seed"], self.state, log=self.sampling["rank"] == 0)
        done = self.state["batches"]
        buffer = next(filled for filled in filling if filled)
        while True:
            source, target = ([len(pair[side]) for pair in buffer.pairs] for side in ("input_ids", "labels"))
            sampler = TokenBatchSampler(source, target, self.tokens_per_batch, **self.sampling)
            sampler.set_epoch(buffer.start["buffer"])
            # The next buffer is filled little by little, so that no step has to wait for all of it.
            chunks = -(-self.stream.buffer_size // (CHUNK * sampler.num_batches))
            following = None
            for number, indices in enumerate(sampler):
                batch, part = divmod(number, sampler.accumulation_steps)
                if batch < done:
                    continue
                if part == 0:
                    for _ in range(chunks):
                        following = following or next(filling)
                inputs = self.collator([buffer.pairs[i] for i in indices])
                yield inputs, [buffer.rows[i] for i in indices], buffer.start | {"batches": batch + 1}
            buffer, done = following or next(filled for filled in filling if filled), 0


class StreamLoader:
    """Batches of a stream for one process, as `TokenBatchLoader` gives those of a data set; without end.

    Global batches are the same whatever the number of processes: each of them reads the whole stream and takes its
    micro-batches. The last batch of a buffer may be smaller.

    Args:
        stream, collator: what is read, and how it is padded.
        tokens_per_batch: source tokens, and target tokens, of a global batch.
        background: read and encode in a process of its own.
        sampling: micro_batches, seed, rank and num_processes of `TokenBatchSampler`.
    """

    def __init__(
        self,
        stream: PairStream,
        collator: PairCollator,
        tokens_per_batch: int,
        *,
        background: bool = False,
        **sampling: int,
    ):
        self.stream, self.collator, self.tokens_per_batch = stream, collator, tokens_per_batch
        self.background, self.sampling = background, sampling
        self._state: dict[str, Any] = dict(START)
        parts = -(-sampling["micro_batches"] // sampling["num_processes"])
        self._rows: deque[list[int]] = deque(maxlen=parts)

    def state_dict(self) -> dict[str, Any]:
        """Where the stream is after the batches given out so far; can be written as JSON. Alike on every process."""
        return dict(self._state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there at the next iteration."""
        self._state = dict(state)

    @property
    def epoch(self) -> int:
        """Number of times that the whole corpus was read."""
        return self._state["epoch"]

    def describe(self, step: int) -> tuple[str, list[list[int]]]:
        """The batch given out last: its name, and this process's micro-batches as rows of the epoch."""
        state = self._state
        return f"batch {state['batches']} of buffer {state['buffer'] + 1}, epoch {state['epoch'] + 1}", [*self._rows]

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        steps = _Steps(self.stream, self.collator, self.tokens_per_batch, self._state, self.sampling)
        loader = DataLoader(
            steps,
            batch_size=None,
            num_workers=1 if self.background else 0,
            generator=torch.Generator(),  # a resumed run must not draw from the generator that dropout uses
        )
        for inputs, rows, self._state in loader:
            self._rows.append(rows)
            yield inputs
