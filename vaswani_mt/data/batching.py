"""Batches of about N source and N target tokens, pairs of similar length together (section 5.1)."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Sampler

IGNORED = -100  # label of a position without a target, as everywhere in torch and transformers


def length_order(source_lengths: np.ndarray, target_lengths: np.ndarray, tie_breaker: np.ndarray) -> np.ndarray:
    """Indices that put pairs of similar source *and* target length next to each other.

    Sorted by target length, and within one target length by source length, upwards and downwards in turn, so that
    the source length does not jump where the target length grows by one. Pairs of equal lengths stand in the order
    of `tie_breaker`; the sequence of lengths itself is the same for every tie-breaker.

    Args: int arrays [n] and a permutation [n]. Returns: int64 [n].
    """
    source = source_lengths.astype(np.int64)
    return np.lexsort((tie_breaker, np.where(target_lengths % 2 == 0, source, -source), target_lengths))


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

    A *global* batch holds at most `tokens_per_batch` source and as many target tokens (padding included) and is
    one optimisation step. The sequence of global batches depends on the lengths, the budget, the seed and the epoch,
    never on the number of processes: each is dealt out pair by pair to `num_processes * accumulation_steps`
    micro-batches, of which this process yields its own `accumulation_steps`. A global batch with fewer pairs than
    micro-batches leaves some of these empty (an empty list), so that every process takes every step.

    Args:
        source_lengths, target_lengths: int [n], tokens of each pair.
        tokens_per_batch: the budget N, on each side.
        shuffle: new order of batches, and of pairs of equal lengths, every epoch; otherwise shortest pairs first.
        seed: of the shuffling.
        rank, num_processes: this process, and how many there are.
        accumulation_steps: micro-batches a process takes per optimisation step.

    Yields:
        lists of indices into the data set, the same number on every process and in every epoch.
    """

    def __init__(
        self,
        source_lengths: Sequence[int] | np.ndarray,
        target_lengths: Sequence[int] | np.ndarray,
        tokens_per_batch: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        num_processes: int = 1,
        accumulation_steps: int = 1,
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
        self.tokens_per_batch, self.shuffle, self.seed = tokens_per_batch, shuffle, seed
        self.rank, self.num_processes, self.accumulation_steps = rank, num_processes, accumulation_steps
        self.epoch = 0
        order = length_order(self.source_lengths, self.target_lengths, np.arange(self.source_lengths.size))
        # Every epoch's order has these same lengths in this same sequence, hence the same cuts.
        self.cuts = cut_batches(self.source_lengths[order], self.target_lengths[order], tokens_per_batch)

    @property
    def num_batches(self) -> int:
        """Number of global batches, that is of optimisation steps, in an epoch."""
        return len(self.cuts) - 1

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order the next iteration takes."""
        self.epoch = epoch

    def global_batches(self) -> list[np.ndarray]:
        """This epoch's global batches: int64 arrays of indices, together every index once."""
        rng = np.random.default_rng((self.seed, self.epoch))
        size = self.source_lengths.size
        tie_breaker = rng.permutation(size) if self.shuffle else np.arange(size)
        order = length_order(self.source_lengths, self.target_lengths, tie_breaker)
        batches = np.split(order, self.cuts[1:-1])
        return [batches[b] for b in rng.permutation(self.num_batches)] if self.shuffle else batches

    def __iter__(self) -> Iterator[list[int]]:
        parts = self.num_processes * self.accumulation_steps
        for batch in self.global_batches() if self.num_batches else []:
            for step in range(self.accumulation_steps):
                yield batch[step * self.num_processes + self.rank :: parts].tolist()

    def __len__(self) -> int:
        return self.num_batches * self.accumulation_steps


class TokenBatchLoader(DataLoader):
    """A DataLoader that tells its TokenBatchSampler the epoch, which the Trainer announces through `set_epoch`."""

    def set_epoch(self, epoch: int) -> None:
        assert isinstance(self.batch_sampler, TokenBatchSampler)
        self.batch_sampler.set_epoch(epoch)


class PairCollator:
    """Pad a list of {"input_ids", "labels"} to the longest of each.

    Args:
        pad_token_id: fills `input_ids`; labels are filled with -100.

    Returns (from the call, for B pairs):
        input_ids [B, S], attention_mask [B, S] and labels [B, T], int64. For no pairs at all one position of padding
        without a target: it takes part in the step and adds nothing to the loss.
    """

    def __init__(self, pad_token_id: int):
        self.pad_token_id = pad_token_id

    def __call__(self, pairs: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        if not pairs:
            padding = torch.full((1, 1), self.pad_token_id)
            ignored = torch.full((1, 1), IGNORED)
            return {"input_ids": padding, "attention_mask": torch.ones_like(padding), "labels": ignored}
        sources = [torch.as_tensor(pair["input_ids"]) for pair in pairs]
        targets = [torch.as_tensor(pair["labels"]) for pair in pairs]
        lengths = torch.tensor([len(source) for source in sources])
        input_ids = pad_sequence(sources, batch_first=True, padding_value=self.pad_token_id)
        return {
            "input_ids": input_ids,
            "attention_mask": (torch.arange(input_ids.shape[1]) < lengths[:, None]).long(),
            "labels": pad_sequence(targets, batch_first=True, padding_value=IGNORED),
        }
