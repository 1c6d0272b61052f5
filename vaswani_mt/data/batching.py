"""Batches of about N source and N target tokens, pairs of similar length together (section 5.1)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Sampler

IGNORED = -100  # label of a position without a target, as everywhere in torch and transformers


# A strip of target lengths holds this many batches of tokens: about as many cuts along one length as along the other.
BATCHES_PER_STRIP = 8


def length_ranks(source_lengths: np.ndarray, target_lengths: np.ndarray, tokens: int) -> np.ndarray:
    """Where each pair stands in an order that puts pairs of similar source *and* target length next to each other.

    Target lengths are divided into strips of `BATCHES_PER_STRIP` batches each; inside a strip the pairs are sorted by
    source length, upwards and downwards in turn, so that the source length does not jump between strips.

    Args:
        source_lengths, target_lengths: int [n].
        tokens: tokens of a batch on one side.

    Returns:
        unsigned int [n]: pairs of the same two lengths have the same rank.
    """
    width = int(source_lengths.max(initial=0)) + 1
    cell = target_lengths.astype(np.int64) * width + source_lengths
    cells = np.flatnonzero(np.bincount(cell))
    source, target = cells % width, cells // width
    tokens_before = np.cumsum(np.bincount(target_lengths) * np.arange(target.max(initial=0) + 1))
    strip = np.concatenate([[0], tokens_before])[target] // (BATCHES_PER_STRIP * tokens)
    order = np.lexsort((target, np.where(strip % 2 == 0, source, -source), strip))
    # Two bytes where they do: numpy sorts these in linear time.
    rank = np.zeros(int(cells.max(initial=0)) + 1, dtype=np.uint16 if len(cells) <= 2**16 else np.uint32)
    rank[cells[order]] = np.arange(len(cells))
    return rank[cell]


def cut_batches(source_lengths: np.ndarray, target_lengths: np.ndarray, tokens: int) -> np.ndarray:
    """Where to cut a sequence of pairs so that no batch, padding included, exceeds `tokens` on either side.

    Args:
        source_lengths, target_lengths: int [n], in batch order.
        tokens: most tokens of a batch on one side, padding included.

    Returns:
        int64 [batches + 1]: batch b is pairs cuts[b] to cuts[b + 1].

    Raises:
        ValueError: a pair that is longer than the whole budget.
    """
    longest = np.maximum(source_lengths, target_lengths).astype(np.int64)
    if longest.size and longest.max() > tokens:
        raise ValueError(
            f"A pair of {longest.max()} tokens does not fit a batch of {tokens}: raise tokens_per_batch (or "
            "max_tokens_per_device), or lower max_source_length / max_target_length."
        )
    cuts, start = [0], 0
    while start < longest.size:
        window = longest[start : start + tokens // longest[start]]
        # Padded size of the first 1, 2, 3, ... pairs; it only grows, so the batch ends where it passes the budget.
        size = np.maximum.accumulate(window) * np.arange(1, window.size + 1)
        start += int(np.searchsorted(size, tokens, side="right"))
        cuts.append(start)
    return np.array(cuts, dtype=np.int64)


def padding_share(lengths: np.ndarray, batches: Sequence[np.ndarray]) -> float:
    """Share of positions that hold padding when `lengths` [n] are batched so; 0 when there are none."""
    padded = sum(len(batch) * int(lengths[batch].max()) for batch in batches if len(batch))
    return 1 - sum(int(lengths[batch].sum()) for batch in batches) / padded if padded else 0.0


class TokenBatchSampler(Sampler[list[int]]):
    """One process's share of the global batches, in training or (`shuffle=False`) evaluation.

    A *global* batch is one optimisation step: at most `tokens_per_batch` source and as many target tokens, padding
    included. It consists of up to `micro_batches` micro-batches of pairs of similar length, drawn from all lengths
    (the paper's batch was one such micro-batch on each of 8 GPUs). They depend on the lengths, the budget, the seed
    and the epoch, never on the number of processes, to which they are dealt out in turn. Where there is none left to
    deal, a process gets an empty list, so that every process takes every step.

    Args:
        source_lengths, target_lengths: int [n], tokens of each pair.
        tokens_per_batch: the budget N, on each side.
        micro_batches: parts of a global batch.
        shuffle: new order of micro-batches, and of pairs of equal lengths, every epoch; otherwise shortest first.
        seed: of the shuffling.
        rank, num_processes: this process, and how many there are.

    Yields:
        lists of indices into the data set, `accumulation_steps` for each global batch.

    Raises:
        ValueError: lengths that do not belong together, a rank that is not one, or a pair longer than a micro-batch.
    """

    def __init__(
        self,
        source_lengths: Sequence[int] | np.ndarray,
        target_lengths: Sequence[int] | np.ndarray,
        tokens_per_batch: int,
        *,
        micro_batches: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        num_processes: int = 1,
    ):
        self.source_lengths = np.asarray(source_lengths, dtype=np.int32)
        self.target_lengths = np.asarray(target_lengths, dtype=np.int32)
        if self.source_lengths.shape != self.target_lengths.shape:
            raise ValueError(
                f"{self.source_lengths.size} source lengths and {self.target_lengths.size} target lengths: "
                "every pair needs one of each."
            )
        if not 0 <= rank < num_processes:
            raise ValueError(f"rank={rank} must be at least 0 and below num_processes={num_processes}.")
        self.tokens_per_batch, self.micro_batches, self.shuffle, self.seed = (
            tokens_per_batch,
            micro_batches,
            shuffle,
            seed,
        )
        self.rank, self.num_processes = rank, num_processes
        self.accumulation_steps = -(-micro_batches // num_processes)
        self.epoch = 0
        tokens = max(1, tokens_per_batch // micro_batches)
        self.ranks = length_ranks(self.source_lengths, self.target_lengths, tokens)
        order = np.argsort(self.ranks, kind="stable")
        # Every epoch's order has these same lengths in this same sequence, hence the same cuts.
        self.cuts = cut_batches(self.source_lengths[order], self.target_lengths[order], tokens)

    @property
    def num_batches(self) -> int:
        """Number of global batches, that is of optimisation steps, in an epoch."""
        return -(-(len(self.cuts) - 1) // self.micro_batches)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order the next iteration takes."""
        self.epoch = epoch

    def epoch_batches(self) -> list[np.ndarray]:
        """This epoch's micro-batches: int arrays of indices, together every index once; global batch b is those from
        b * micro_batches on."""
        if len(self.cuts) == 1:
            return []
        if not self.shuffle:
            return np.split(np.argsort(self.ranks, kind="stable"), self.cuts[1:-1])
        rng = np.random.default_rng((self.seed, self.epoch))
        shuffled = rng.permutation(np.arange(self.ranks.size, dtype=np.int32))
        order = shuffled[np.argsort(self.ranks[shuffled], kind="stable")]
        batches = np.split(order, self.cuts[1:-1])
        return [batches[b] for b in rng.permutation(len(batches))]

    def step_rows(self, epoch: int, batch: int) -> list[list[int]]:
        """This process's micro-batches of global batch `batch` (from 0) in an epoch, for messages: plans it anew."""
        self.set_epoch(epoch)
        return [part.tolist() for part in self._share(self.epoch_batches(), batch)]

    def _share(self, batches: list[np.ndarray], batch: int) -> list[np.ndarray]:
        start = batch * self.micro_batches
        return batches[start : start + self.micro_batches][self.rank :: self.num_processes]

    def __iter__(self) -> Iterator[list[int]]:
        batches = self.epoch_batches()
        for batch in range(self.num_batches):
            mine = self._share(batches, batch)
            for step in range(self.accumulation_steps):
                yield mine[step].tolist() if step < len(mine) else []

    def __len__(self) -> int:
        return self.num_batches * self.accumulation_steps


class TokenBatchLoader(DataLoader):
    """A DataLoader that tells its TokenBatchSampler the epoch, which the Trainer announces through `set_epoch`."""

    batch_sampler: TokenBatchSampler  # type: ignore[assignment]

    def set_epoch(self, epoch: int) -> None:
        self.batch_sampler.set_epoch(epoch)

    def describe(self, step: int) -> tuple[str, list[list[int]]]:
        """What the optimisation step after `step` others takes: its name, and this process's micro-batches as rows."""
        epoch, batch = divmod(step, self.batch_sampler.num_batches)
        return f"batch {batch + 1} of epoch {epoch + 1}", self.batch_sampler.step_rows(epoch, batch)


class PairCollator:
    """Pad {"input_ids", "labels"}, lists or int64 arrays, to the longest of each.

    Args:
        pad_token_id: fills `input_ids`; labels are filled with -100.

    Returns (from the call, for B pairs):
        input_ids [B, S], attention_mask [B, S] and labels [B, T], int64; other columns alike, lists filled with -100,
        numbers as [B]. For no pairs at all one position of padding without a target, and no other column: it takes
        part in the step and adds nothing to the loss.
    """

    def __init__(self, pad_token_id: int):
        self.pad_token_id = pad_token_id

    def __call__(self, pairs: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        if not pairs:
            padding = torch.full((1, 1), self.pad_token_id)
            ignored = torch.full((1, 1), IGNORED)
            return {"input_ids": padding, "attention_mask": torch.ones_like(padding), "labels": ignored}
        sources = [torch.as_tensor(pair["input_ids"]) for pair in pairs]
        targets = [torch.as_tensor(pair["labels"]) for pair in pairs]
        lengths = torch.tensor([len(source) for source in sources])
        input_ids = pad_sequence(sources, batch_first=True, padding_value=self.pad_token_id)
        batch = {
            "input_ids": input_ids,
            "attention_mask": (torch.arange(input_ids.shape[1]) < lengths[:, None]).long(),
            "labels": pad_sequence(targets, batch_first=True, padding_value=IGNORED),
        }
        for name in pairs[0].keys() - batch.keys():
            values = [torch.as_tensor(pair[name]) for pair in pairs]
            batch[name] = (
                pad_sequence(values, batch_first=True, padding_value=IGNORED)
                if values[0].dim()
                else (torch.stack(values))
            )
        return batch
