"""What differs between the jobs, and nothing else: a task loads, encodes, decodes and scores."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from datasets import Dataset, DatasetDict, IterableDataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase


class Task(Protocol):
    """One job. Tasks are dataclasses: their fields are what a training.yaml or a command line can set."""

    # Further columns that `encode` makes and a batch carries; they are not arguments of the model.
    batch_columns: Sequence[str]

    def load(self, splits: Sequence[str] = ("train", "validation", "test")) -> DatasetDict:
        """Those of the sets asked for that the settings name; at least one if "train" or only one was asked for."""
        ...

    def stream(self) -> IterableDataset:
        """The training examples as they are read, kept nowhere; a task without such corpora raises ValueError."""
        ...

    def texts(self, dataset: Dataset | IterableDataset) -> Iterator[str]:
        """All text that a vocabulary must cover, source and target."""
        ...

    def symbols(self, dataset: Dataset | IterableDataset) -> list[str]:
        """Target symbols that are no text; see `train_tokenizer`."""
        ...

    def target_vocab_size(self, tokenizer: PreTrainedTokenizerBase) -> int:
        """How many symbols of the vocabulary, the first ones, a target can hold."""
        ...

    def tokenizer_settings(self) -> dict[str, Any]:
        """Settings that a vocabulary trained for this task is to remember."""
        ...

    def encode(self, examples: dict[str, list[Any]], tokenizer: PreTrainedTokenizerBase) -> dict[str, list[Any]]:
        """Examples -> columns input_ids and labels (lists of ids, each ending with EOS), and `batch_columns`."""
        ...

    def generation(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        batch: dict[str, torch.Tensor],
        settings: dict[str, Any],
    ) -> dict[str, Any]:
        """What `generate` needs for this batch beyond its settings: constraints, for instance."""
        ...

    def decode(
        self, sequences: Sequence[Sequence[int]], tokenizer: PreTrainedTokenizerBase, dataset: Dataset
    ) -> list[str]:
        """Generated ids -> output text, one a sequence; as many sequences for each example of `dataset`, in order."""
        ...

    def references(self, dataset: Dataset) -> list[str]:
        """The outputs wanted, in order."""
        ...

    def score(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        """The task's figures of merit, the main one first."""
        ...

    def card(self) -> dict[str, Any]:
        """For the model card: task, languages, dataset, description and a usage example with {model} in it."""
        ...


def task_class(name: str) -> type[Any]:
    """The task of that name.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    from .parsing import ParsingTask
    from .translation import TranslationTask

    tasks = {"translation": TranslationTask, "parsing": ParsingTask}
    if name not in tasks:
        raise ValueError(f"Unknown task {name!r}: it must be one of {', '.join(tasks)}.")
    return tasks[name]
