"""Constituency parsing as sequence transduction (section 6.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from datasets import Dataset, DatasetDict, IterableDataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from .. import metrics
from ..data import grammar
from ..data.treebank import clean, parse_tree, read_trees, wsj_files
from ..parsing_vaswani import encode_words, target_symbols, tree_constraint
from ..tokenization import SPECIAL_TOKENS
from ..trees_vaswani import Tree, delinearise, linearise, unescape

logger = logging.get_logger(__name__)

EMBEDDED = "grammar"  # dataset_name of the corpus that comes with the package
EMBEDDED_SIZES = {"train": 20_000, "validation": 500, "test": 500}


@dataclass
class ParsingTask:
    """Sentences into their constituency trees.

    Data sets have one column, `tree`: cleaned trees, one line each.

    Raises:
        ValueError: no treebank, or a number below 1.
    """

    batch_columns: ClassVar[tuple[str, ...]] = ("num_words", "alignment")

    dataset_name: str | None = field(
        default=None, metadata={"help": f"'{EMBEDDED}' is the embedded corpus; for treebanks see the settings below."}
    )
    treebank: str | None = field(
        default=None,
        metadata={"help": "Folder of LDC99T42 (Treebank-3): sections 02-21 train, 22 validation, 23 test."},
    )
    train_files: list[str] | None = field(
        default=None, metadata={"help": "Bracket files (.mrg, .tree, ...; .gz too), patterns in quotes, or folders."}
    )
    validation_files: list[str] | None = field(default=None, metadata={"help": "As train_files."})
    test_files: list[str] | None = field(default=None, metadata={"help": "As train_files."})
    max_train_samples: int | None = field(default=None, metadata={"help": "Use only so many training trees."})
    max_validation_samples: int | None = field(
        default=None, metadata={"help": "Validate on only so many trees, evenly spread over the set."}
    )
    max_words: int | None = field(default=None, metadata={"help": "Drop training trees over more words."})
    tags: bool = field(default=True, metadata={"help": "Write part-of-speech tags; otherwise XX stands for each."})
    pieces_per_word: int | None = field(
        default=None,
        metadata={
            "help": "Most word-pieces of a word; of a longer word the last ones are kept, which tell its ending. "
            "Default: all. Only for a vocabulary that is trained by this run; it remembers the setting."
        },
    )
    constrained: bool = field(
        default=True, metadata={"help": "Generate well-formed trees with one tag a word, and nothing else."}
    )

    def __post_init__(self):
        for name in ("max_train_samples", "max_validation_samples", "max_words", "pieces_per_word"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}={value} must be at least 1.")

    # --- Data --------------------------------------------------------------------------------------------------

    def load(self, splits: Sequence[str] = ("train", "validation", "test")) -> DatasetDict:
        """Those of the sets asked for that there are.

        Raises:
            ValueError: no treebank is named, or exactly one set was asked for and it is not there.
            FileNotFoundError: a file, folder or section that is not there.
        """
        if not any((self.dataset_name, self.treebank, self.train_files, self.validation_files, self.test_files)):
            raise ValueError(
                "No treebank: give treebank (the folder of LDC99T42), train_files / validation_files / test_files, or "
                f"dataset_name {EMBEDDED} for the embedded corpus."
            )
        if self.dataset_name not in (None, EMBEDDED):
            raise ValueError(f"dataset_name={self.dataset_name!r}: the only one for parsing is {EMBEDDED!r}.")
        found = {name: trees for name in splits if (trees := self._read(name)) is not None}
        if not found:
            raise ValueError(f"No {' or '.join(splits)} set: give {splits[0]}_files, or a treebank.")
        return DatasetDict({name: Dataset.from_dict({"tree": trees}) for name, trees in found.items()})

    def _read(self, name: str) -> list[str] | None:
        """The trees of the set of that name: the files given for it, else the treebank's, else None."""
        files = getattr(self, f"{name}_files")
        if files is None and self.treebank:
            files = wsj_files(self.treebank, name)
        if files:
            trees = list(read_trees(files))
        elif self.dataset_name == EMBEDDED:
            trees = [
                tree
                for example in grammar.splits(EMBEDDED_SIZES)[name]
                if (tree := clean(parse_tree(example.tree))) is not None
            ]
        else:
            return None
        if not trees:
            raise ValueError(f"No tree in the {name} set.")
        if name == "train":
            trees = self._training_trees(trees)
        elif name == "validation" and self.max_validation_samples is not None:
            trees = trees[:: -(-len(trees) // self.max_validation_samples)]
        return [str(tree) for tree in trees]

    def _training_trees(self, trees: list[Tree]) -> list[Tree]:
        trees = trees[: self.max_train_samples]
        if self.max_words is None:
            return trees
        kept = [tree for tree in trees if len(tree.words()) <= self.max_words]
        if not kept:
            raise ValueError(f"All {len(trees)} training trees have more than max_words={self.max_words} words.")
        if len(kept) < len(trees):
            logger.warning(f"Dropped {len(trees) - len(kept)} of {len(trees)} trees over {self.max_words} words.")
        return kept

    def stream(self) -> IterableDataset:
        """Treebanks are small.

        Raises:
            ValueError: always.
        """
        raise ValueError("Treebanks are not streamed: they fit into memory. Leave --streaming out.")

    def texts(self, dataset: Dataset | IterableDataset) -> Iterator[str]:
        """The sentences, their words separated by spaces."""
        for line in dataset["tree"]:
            yield " ".join(map(unescape, parse_tree(line).words()))

    def symbols(self, dataset: Dataset | IterableDataset) -> list[str]:
        """All symbols of the trees, and the closing of every opening one."""
        found: set[str] = set()
        for line in dataset["tree"]:
            found.update(linearise(parse_tree(line), tags=self.tags))
        return sorted(found)

    def target_vocab_size(self, tokenizer: PreTrainedTokenizerBase) -> int:
        """Special tokens and target symbols."""
        return len(SPECIAL_TOKENS) + len(target_symbols(tokenizer))

    def tokenizer_settings(self) -> dict[str, Any]:
        """How words are split into pieces: whoever parses with the model needs to know."""
        return {} if self.pieces_per_word is None else {"pieces_per_word": self.pieces_per_word}

    def encode(self, examples: dict[str, list[Any]], tokenizer: PreTrainedTokenizerBase) -> dict[str, list[Any]]:
        """Trees -> input_ids (word-pieces), labels (symbols), num_words, and alignment.

        alignment holds for each label the source position of the first piece of the word that comes next when it is
        chosen (of the end symbol once no word is left).
        """
        ids = target_symbols(tokenizer)
        columns: dict[str, list[Any]] = {"input_ids": [], "labels": [], "num_words": [], "alignment": []}
        for line in examples["tree"]:
            tree = parse_tree(line)
            words, symbols = tree.words(), linearise(tree, tags=self.tags)
            pieces = encode_words([unescape(word) for word in words], tokenizer)
            columns["input_ids"].append([piece for word in pieces for piece in word] + [tokenizer.eos_token_id])
            # A label that training did not see cannot be written.
            labels = [ids.get(symbol, tokenizer.unk_token_id) for symbol in symbols]
            columns["labels"].append([*labels, tokenizer.eos_token_id])
            columns["num_words"].append(len(words))
            starts = [0]
            for word in pieces:
                starts.append(starts[-1] + len(word))
            used, alignment = 0, []
            for symbol in [*symbols, ""]:
                alignment.append(starts[min(used, len(words))])
                used += symbol[:1] not in ("", "(", ")")
            columns["alignment"].append(alignment)
        return columns

    # --- Use ---------------------------------------------------------------------------------------------------

    def generation(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        batch: dict[str, torch.Tensor],
        settings: dict[str, Any],
    ) -> dict[str, Any]:
        """The constraint, unless it is switched off."""
        if not self.constrained:
            return {}
        constraint = tree_constraint(model, tokenizer, batch["attention_mask"], batch["num_words"], settings)
        return {"logits_processor": [constraint]}

    def decode(
        self, sequences: Sequence[Sequence[int]], tokenizer: PreTrainedTokenizerBase, dataset: Dataset
    ) -> list[str]:
        """Generated ids -> trees over the words of `dataset`, one line each; malformed outputs are repaired."""
        symbols = {index: symbol for symbol, index in target_symbols(tokenizer).items()}
        sentences = [parse_tree(line).words() for line in dataset["tree"]]
        per_sentence = len(sequences) // len(sentences)
        trees, repaired = [], 0
        for number, sequence in enumerate(sequences):
            written = [symbols[index] for index in sequence if index in symbols]
            tree, repairs = delinearise(written, sentences[number // per_sentence])
            trees.append(str(tree))
            repaired += repairs.total > 0
        if repaired:
            logger.warning(f"{repaired} of {len(sequences)} outputs were no well-formed trees and were repaired.")
        return trees

    def references(self, dataset: Dataset) -> list[str]:
        """The trees."""
        return list(dataset["tree"])

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Labelled bracketing F1, all sentences counted, and EVALB's figures."""
        return metrics.load("parseval").compute(predictions=predictions, references=references)

    def card(self) -> dict[str, Any]:
        """For the model card."""
        files = [Path(path).name for path in self.train_files or self.test_files or []]  # not where they lie
        dataset = self.dataset_name or ("Penn Treebank" if self.treebank else ", ".join(files))
        return {
            "task": "constituency-parsing",
            "languages": ["en"],
            "dataset": dataset,
            "description": f"constituency parsing on {dataset}",
            "usage": 'parser = pipeline("constituency-parsing", model="{model}")\nparser("It works .")["tree"]',
        }
