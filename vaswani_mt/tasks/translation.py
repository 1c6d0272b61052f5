"""Machine translation (sections 5.1 and 6.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from datasets import Dataset, DatasetDict, IterableDataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from .. import metrics
from ..data import corpora, grammar

logger = logging.get_logger(__name__)

EMBEDDED = "grammar"  # dataset_name of the corpus that comes with the package
EMBEDDED_SIZES = {"train": 20_000, "validation": 500, "test": 500}


@dataclass
class TranslationTask:
    """Sentences of `source_lang` into `target_lang`.

    Raises:
        ValueError: no corpus, two of them, or the same language twice.
    """

    batch_columns: ClassVar[tuple[str, ...]] = ()

    source_lang: str = field(default="en", metadata={"help": "Language translated from, as the corpus names it."})
    target_lang: str = field(default="de", metadata={"help": "Language translated into."})
    dataset_name: str | None = field(
        default=None,
        metadata={"help": f"Hub data set or folder with a translation column; '{EMBEDDED}' is the embedded corpus."},
    )
    dataset_config: str | None = field(default=None, metadata={"help": "Its configuration, for instance de-en."})
    dataset_revision: str | None = field(default=None, metadata={"help": "Its revision."})
    train_split: str = field(default="train", metadata={"help": "Split of dataset_name to train on."})
    validation_split: str = field(default="validation", metadata={"help": "Split to evaluate on while training."})
    test_split: str = field(default="test", metadata={"help": "Split to evaluate on in the end."})
    train_files: list[str] | None = field(
        default=None,
        metadata={"help": "Parallel text (corpus.en corpus.de), or json, jsonl, tsv, csv, parquet; .gz too."},
    )
    validation_files: list[str] | None = field(default=None, metadata={"help": "As train_files."})
    test_files: list[str] | None = field(default=None, metadata={"help": "As train_files."})
    max_train_samples: int | None = field(default=None, metadata={"help": "Use only so many training pairs."})
    min_words: int = field(default=1, metadata={"help": "Drop training pairs with a shorter side (in words)."})
    max_words: int | None = field(default=None, metadata={"help": "Drop training pairs with a longer side."})
    max_ratio: float | None = field(
        default=None, metadata={"help": "Drop training pairs whose one side has so many times the other's words."}
    )
    bleu_tokenize: str = field(
        default="13a", metadata={"help": "13a (sacreBLEU), none (text is tokenised), moses, or any of sacreBLEU's."}
    )
    bleu_lowercase: bool = field(default=False, metadata={"help": "Score without regard to case."})
    bleu_split_compounds: bool = field(
        default=False, metadata={"help": "Split hyphenated compounds before scoring, as the paper's En-De figures do."}
    )

    def __post_init__(self):
        if self.source_lang == self.target_lang:
            raise ValueError(f"source_lang and target_lang are both {self.source_lang!r}.")

    def load(self, splits: Sequence[str] = ("train", "validation", "test")) -> DatasetDict:
        """Those of the sets asked for that there are; training pairs filtered, all others whole and in order.

        Raises:
            ValueError: no corpus is named, or the training set or the only set asked for is not there.
        """
        needed = "train" in splits or len(splits) == 1
        named = self.dataset_name or self.train_files or self.validation_files or self.test_files
        if needed and not named:
            raise ValueError(
                "No corpus: give dataset_name (a Hub data set, a folder, or 'grammar' for the embedded one) or "
                "train_files / validation_files / test_files."
            )
        found = {name: dataset for name in splits if (dataset := self._read(name)) is not None}
        if needed and not found:
            raise ValueError(f"No {' or '.join(splits)} set: give {splits[0]}_files, or a dataset_name that has one.")
        if "train" in found:
            found["train"] = self._training_pairs(found["train"])
        return DatasetDict(found)

    def _read(self, name: str) -> Dataset | None:
        """The set of that name: the files given for it, else the data set's split, else None."""
        files, split = getattr(self, f"{name}_files"), getattr(self, f"{name}_split")
        if files:
            return corpora.read_files(files, self.source_lang, self.target_lang)
        if self.dataset_name == EMBEDDED:
            return self._embedded(name)
        if self.dataset_name is None or not split:
            return None
        return corpora.read_hub(
            self.dataset_name,
            self.dataset_config,
            split,
            self.source_lang,
            self.target_lang,
            revision=self.dataset_revision,
        )

    def _embedded(self, name: str) -> Dataset:
        """The embedded corpus; its sizes are fixed, so that its held-out sets are the same for everybody."""
        for language in (self.source_lang, self.target_lang):
            if language not in ("en", "de", "fr"):
                raise ValueError(f"The embedded corpus has no {language!r}: its languages are en, de, fr.")
        pairs = [
            {language: getattr(example, language) for language in (self.source_lang, self.target_lang)}
            for example in grammar.splits(EMBEDDED_SIZES)[name]
        ]
        return Dataset.from_dict({"translation": pairs})

    def _training_pairs(self, dataset: Dataset) -> Dataset:
        if self.max_train_samples is not None:
            dataset = dataset.select(range(min(self.max_train_samples, len(dataset))))
        kept, _ = corpora.filter_pairs(
            dataset,
            self.source_lang,
            self.target_lang,
            min_length=self.min_words,
            max_length=self.max_words,
            max_ratio=self.max_ratio,
        )
        return kept

    def stream(self) -> IterableDataset:
        """The training pairs as they are read, filtered, and kept nowhere.

        Raises:
            ValueError: there is no training set, or it is the embedded one, or `max_train_samples` is set.
        """
        if self.max_train_samples is not None:
            raise ValueError("max_train_samples is not for streaming: leave it out, or give smaller files.")
        if self.train_files:
            dataset = corpora.stream_files(self.train_files, self.source_lang, self.target_lang)
        elif self.dataset_name and self.dataset_name != EMBEDDED:
            dataset = corpora.stream_hub(
                self.dataset_name,
                self.dataset_config,
                self.train_split,
                self.source_lang,
                self.target_lang,
                revision=self.dataset_revision,
            )
        else:
            raise ValueError(
                "Nothing to stream: give train_files, or a dataset_name (the embedded corpus is in memory)."
            )
        return corpora.filter_stream(
            dataset,
            self.source_lang,
            self.target_lang,
            min_length=self.min_words,
            max_length=self.max_words,
            max_ratio=self.max_ratio,
        )

    def texts(self, dataset: Dataset | IterableDataset) -> Iterator[str]:
        """Source and target sentences in turn."""
        for batch in dataset.select_columns("translation").iter(1000):
            for pair in batch["translation"]:
                yield pair[self.source_lang]
                yield pair[self.target_lang]

    def symbols(self, dataset: Dataset | IterableDataset) -> list[str]:
        """None: the target is text."""
        return []

    def target_vocab_size(self, tokenizer: PreTrainedTokenizerBase) -> int:
        """All of it."""
        return len(tokenizer)

    def tokenizer_settings(self) -> dict[str, Any]:
        """None."""
        return {}

    def encode(self, examples: dict[str, list[Any]], tokenizer: PreTrainedTokenizerBase) -> dict[str, list[Any]]:
        """Pairs -> input_ids (source) and labels (target), each ending with EOS."""
        pairs = examples["translation"]
        return {
            "input_ids": tokenizer([pair[self.source_lang] for pair in pairs])["input_ids"],
            "labels": tokenizer(text_target=[pair[self.target_lang] for pair in pairs])["input_ids"],
        }

    def generation(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        batch: dict[str, torch.Tensor],
        settings: dict[str, Any],
    ) -> dict[str, Any]:
        """Nothing."""
        return {}

    def decode(
        self, sequences: Sequence[Sequence[int]], tokenizer: PreTrainedTokenizerBase, dataset: Dataset
    ) -> list[str]:
        """Generated ids -> sentences."""
        return tokenizer.batch_decode([list(sequence) for sequence in sequences], skip_special_tokens=True)

    def references(self, dataset: Dataset) -> list[str]:
        """The target sentences."""
        return [pair[self.target_lang] for pair in dataset["translation"]]

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Corpus BLEU as configured, and chrF, with their signatures."""
        bleu = metrics.load("bleu").compute(
            predictions=predictions,
            references=references,
            tokenize=self.bleu_tokenize,
            lowercase=self.bleu_lowercase,
            split_compounds=self.bleu_split_compounds,
            language=self.target_lang,
        )
        chrf = metrics.load("chrf").compute(predictions=predictions, references=references)
        return {
            "bleu": bleu["score"],
            "chrf": chrf["score"],
            "bleu_signature": bleu["signature"],
            "chrf_signature": chrf["signature"],
        }

    def card(self) -> dict[str, Any]:
        """For the model card."""
        files = [Path(path).name for path in self.train_files or self.test_files or []]  # not where they lie
        dataset = self.dataset_name or ", ".join(files)
        return {
            "task": "translation",
            "languages": [self.source_lang, self.target_lang],
            "dataset": dataset,
            "description": f"translation from {self.source_lang} into {self.target_lang} on {dataset}",
            "usage": 'translator = pipeline("translation", model="{model}")\ntranslator("...")[0]["translation_text"]',
        }
