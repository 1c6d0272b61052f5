"""A large corpus to token ids on disk, once and in pieces: a run that is killed goes on where it was."""

import json
import multiprocessing
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from datasets import Dataset
from tqdm.auto import tqdm
from transformers import PreTrainedTokenizerBase
from transformers.utils import logging

from ..tasks import Task
from .encoding import encode_batch

logger = logging.get_logger(__name__)

FEATURES = datasets.Features(
    {
        "input_ids": datasets.List(datasets.Value("int32")),
        "labels": datasets.List(datasets.Value("int32")),
        "source_length": datasets.Value("int32"),
        "target_length": datasets.Value("int32"),
    }
)
SETTINGS = "prepared.json"
TOKENIZER = "tokenizer"
BATCH = 1000  # pairs that are encoded at a time


@dataclass
class PreparationArguments:
    """What `vaswani-mt prepare` needs beyond the settings of the run.

    Raises:
        ValueError: shards of no pairs.
    """

    shard_size: int = field(
        default=100_000, metadata={"help": "Pairs of the corpus that become one file; what a kill loses at most."}
    )

    def __post_init__(self):
        if self.shard_size < 1:
            raise ValueError(f"shard_size={self.shard_size} must be at least 1.")


class Preparation:
    """The folder that `vaswani-mt prepare` writes: vocabulary, encoded shards, and the settings they were made with.

    Args:
        folder: made if it is not there.
        task: knows the corpus and how to encode it.
        settings: what else decides over the contents: limits of length, vocabulary, shard size.

    Raises:
        ValueError: the folder holds something that was prepared with other settings.
    """

    def __init__(self, folder: str | Path, task: Task, settings: dict[str, Any]):
        self.folder, self.task, self.settings = Path(folder), task, settings
        known = json.loads(json.dumps({"task": asdict(task), **settings}))  # type: ignore[call-overload]
        path = self.folder / SETTINGS
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))["settings"]
            differing = [key for key in {**found, **known} if found.get(key) != known.get(key)]
            if differing:
                raise ValueError(
                    f"{self.folder} was prepared with other settings ({', '.join(differing)}): choose another folder "
                    "or delete it."
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(path, {"settings": known})

    @staticmethod
    def _write(path: Path, content: dict[str, Any]) -> None:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(content, indent=1), encoding="utf-8")
        part.replace(path)

    @property
    def tokenizer_folder(self) -> Path:
        """Where the vocabulary lies."""
        return self.folder / TOKENIZER

    @contextmanager
    def tokenizer_part(self) -> Iterator[Path]:
        """An empty folder to write the vocabulary into; it takes its place once that is done."""
        part = self.folder / f"{TOKENIZER}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        part.rename(self.tokenizer_folder)

    def encode(self, corpus: Dataset, tokenizer: PreTrainedTokenizerBase, num_proc: int = 1) -> dict[str, int]:
        """Encode the corpus shard by shard; shards that are there already are kept.

        Args:
            corpus: the training set, memory-mapped.
            tokenizer: the vocabulary.
            num_proc: processes; each holds `BATCH` pairs at a time.

        Returns:
            numbers: "pairs", of them "dropped" as too long, "source_tokens" and "target_tokens" of those kept.

        Raises:
            ValueError: no pair is left.
        """
        size, source_limit, target_limit = (
            self.settings[name] for name in ("shard_size", "max_source_length", "max_target_length")
        )
        starts = range(0, len(corpus), size)
        (self.folder / "train").mkdir(exist_ok=True)
        files = [self.folder / "train" / f"data-{n:05d}-of-{len(starts):05d}.arrow" for n in range(len(starts))]
        jobs = [(start, file) for start, file in zip(starts, files, strict=True) if not file.exists()]
        if len(jobs) < len(starts):
            logger.warning(f"{len(starts) - len(jobs)} of {len(starts)} shards are there already.")
        shared = _Shared(corpus, self.task, tokenizer, size, (source_limit, target_limit))
        with tqdm(
            total=len(corpus), unit=" pairs", desc="Encoding", initial=len(corpus) - _pairs(jobs, shared)
        ) as bar:
            for pairs in _each_shard(shared, jobs, num_proc):
                bar.update(pairs)
        kept = self.load()
        lengths = kept.with_format("numpy")
        counts = {
            "pairs": len(corpus),
            "dropped": len(corpus) - len(kept),
            "source_tokens": int(lengths["source_length"][:].sum(dtype=np.int64)),
            "target_tokens": int(lengths["target_length"][:].sum(dtype=np.int64)),
        }
        if not len(kept):
            raise ValueError(
                f"All {len(corpus)} pairs are longer than max_source_length={source_limit} or "
                f"max_target_length={target_limit} tokens: raise these, or check the tokenizer."
            )
        settings = json.loads((self.folder / SETTINGS).read_text(encoding="utf-8"))["settings"]
        self._write(self.folder / SETTINGS, {"settings": settings, "counts": counts})
        return counts

    def load(self) -> Dataset:
        """The encoded pairs, memory-mapped; see `prepared_pairs`."""
        return _pairs_in(self.folder / "train")


def prepared_pairs(folder: str | Path) -> Dataset:
    """The encoded training pairs that `vaswani-mt prepare` left in `folder`, memory-mapped: the columns of `encode`.

    Raises:
        FileNotFoundError: nothing was prepared there.
        ValueError: preparation has not come to its end.
    """
    settings = Path(folder) / SETTINGS
    if not settings.is_file():
        raise FileNotFoundError(f"{folder} holds no prepared data: make it with vaswani-mt prepare.")
    if "counts" not in json.loads(settings.read_text(encoding="utf-8")):
        raise ValueError(f"{folder} is not prepared to the end: run the same vaswani-mt prepare again, it goes on.")
    return _pairs_in(Path(folder) / "train")


def _pairs_in(folder: Path) -> Dataset:
    return datasets.concatenate_datasets([Dataset.from_file(str(file)) for file in sorted(folder.glob("*.arrow"))])


@dataclass
class _Shared:
    """What every process needs; inherited, not sent, so that the corpus' tables exist once."""

    corpus: Dataset
    task: Task
    tokenizer: PreTrainedTokenizerBase
    size: int
    limits: tuple[int | None, int | None]


_shared: _Shared | None = None


def _pairs(jobs: list[tuple[int, Path]], shared: _Shared) -> int:
    return sum(min(shared.size, len(shared.corpus) - start) for start, _ in jobs)


def _each_shard(shared: _Shared, jobs: list[tuple[int, Path]], num_proc: int) -> Iterator[int]:
    """Encode the shards; yields the number of pairs read for each as it is done."""
    global _shared
    _shared = shared
    try:
        if num_proc == 1:
            yield from map(_encode_shard, jobs)
            return
        before = os.environ.get("TOKENIZERS_PARALLELISM")
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes share the cores already
        try:
            with multiprocessing.get_context("fork").Pool(num_proc) as pool:
                yield from pool.imap_unordered(_encode_shard, jobs)
        finally:
            os.environ.pop("TOKENIZERS_PARALLELISM")
            if before is not None:
                os.environ["TOKENIZERS_PARALLELISM"] = before
    finally:
        _shared = None


def _encode_shard(job: tuple[int, Path]) -> int:
    """Write one file, under another name until it is whole."""
    assert _shared is not None
    start, file = job
    end = min(start + _shared.size, len(_shared.corpus))
    part, schema = file.with_suffix(".part"), FEATURES.arrow_schema
    with pa.OSFile(str(part), "wb") as stream, pa.ipc.new_stream(stream, schema) as writer:
        for first in range(start, end, BATCH):
            columns = encode_batch(_shared.corpus[first : min(first + BATCH, end)], _shared.task, _shared.tokenizer)
            table = pa.table(
                [pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema
            )
            keep = np.ones(len(table), dtype=bool)
            for name, limit in zip(("source_length", "target_length"), _shared.limits, strict=True):
                if limit is not None:
                    keep &= table[name].to_numpy() <= limit
            writer.write_table(table.filter(pa.array(keep)))
    part.replace(file)
    return end - start
