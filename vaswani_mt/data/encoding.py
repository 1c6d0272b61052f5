"""Examples to token ids: done once, cached on disk by `datasets`, memory-mapped from then on."""

import numpy as np
from datasets import Dataset
from transformers import PreTrainedTokenizerBase
from transformers.utils import logging

from ..tasks import Task

logger = logging.get_logger(__name__)


def encode(
    dataset: Dataset, task: Task, tokenizer: PreTrainedTokenizerBase, *, num_proc: int | None = None
) -> Dataset:
    """Add the columns input_ids, labels (ids) and source_length, target_length (their numbers) to `dataset`.

    Nothing is cut and nothing dropped; see `drop_long`.
    """

    def encoded(examples: dict[str, list]) -> dict[str, list]:
        return encode_batch(examples, task, tokenizer)

    return dataset.map(encoded, batched=True, num_proc=num_proc, desc="Encoding")


def encode_batch(examples: dict[str, list], task: Task, tokenizer: PreTrainedTokenizerBase) -> dict[str, list]:
    """Columns of a batch of examples -> the columns that `encode` adds."""
    columns = task.encode(examples, tokenizer)
    lengths = {"source_length": "input_ids", "target_length": "labels"}
    return columns | {name: [len(ids) for ids in columns[column]] for name, column in lengths.items()}


def drop_long(dataset: Dataset, max_source_length: int | None, max_target_length: int | None) -> Dataset:
    """Training pairs within the given numbers of tokens (EOS counted); what is dropped is counted in the log.

    Raises:
        ValueError: no pair is left.
    """
    lengths = dataset.with_format("numpy")
    kept = np.ones(len(dataset), dtype=bool)
    for column, limit in (("source_length", max_source_length), ("target_length", max_target_length)):
        if limit is not None:
            kept &= lengths[column][:] <= limit
    dropped = len(dataset) - int(kept.sum())
    if dropped == len(dataset):
        raise ValueError(
            f"All {dropped} pairs are longer than max_source_length={max_source_length} or "
            f"max_target_length={max_target_length} tokens: raise these, or check the tokenizer."
        )
    if not dropped:
        return dataset
    logger.warning(
        f"Dropped {dropped} of {len(dataset)} training pairs longer than max_source_length={max_source_length} or "
        f"max_target_length={max_target_length} tokens."
    )
    return dataset.select(np.flatnonzero(kept))
