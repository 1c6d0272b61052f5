"""What differs between the jobs, and nothing else: a task loads, encodes, decodes and scores."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from datasets import Dataset, DatasetDict
from transformers import PreTrainedTokenizerBase


class Task(Protocol):
    """One job. Tasks are dataclasses: their fields are what a training.yaml or a command line can set."""

    def load(self, splits: Sequence[str] = ("train", "validation", "test")) -> DatasetDict:
        """Those of the sets asked for that the settings name; at least one."""
        ...

    def texts(self, dataset: Dataset) -> Iterator[str]:
        """All text that a vocabulary must cover, source and target."""
        ...

    def encode(self, examples: dict[str, list[Any]], tokenizer: PreTrainedTokenizerBase) -> dict[str, list[Any]]:
        """A batch of examples -> columns input_ids and labels (lists of ids, each ending with EOS)."""
        ...

    def decode(self, sequences: Sequence[Sequence[int]], tokenizer: PreTrainedTokenizerBase) -> list[str]:
        """Generated ids -> output text, one a sequence."""
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
    from .translation import TranslationTask

    tasks = {"translation": TranslationTask}
    if name not in tasks:
        raise ValueError(f"Unknown task {name!r}: it must be one of {', '.join(tasks)}.")
    return tasks[name]
