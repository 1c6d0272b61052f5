"""Parallel text from files, folders and the Hub, always as one column `translation` of {source: ..., target: ...}.

That is the schema of wmt/wmt14 on the Hub. Reading keeps every line and its order; `filter_pairs` is another step.
"""

import bz2
import csv
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from datasets import Dataset, Features, Translation, load_dataset
from datasets.exceptions import DatasetGenerationError
from transformers.utils import logging

logger = logging.get_logger(__name__)

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
TABLES = (".json", ".jsonl", ".tsv", ".csv", ".parquet")
NEWSTEST2014_LINES = {3003: "the full test set, the paper's", 2737: "the filtered test set, not the paper's"}


# --- Files ---------------------------------------------------------------------------------------------------------


def read_files(
    paths: Sequence[str | Path], source_lang: str, target_lang: str, *, cache_dir: str | None = None
) -> Dataset:
    """Parallel text from local files, memory-mapped from a cache that follows the files' size and date.

    Args:
        paths: either parallel plain text, two files a corpus (`a.en a.de b.en b.de`; the suffix tells the language,
            or else the source comes first), or tables: json and jsonl ({"translation": {"en": ..., "de": ...}} or
            {"en": ..., "de": ...}), parquet, tsv and csv (a header that names both languages, or two columns, the
            source first). All but parquet also as .gz, .bz2 or .xz. Several are read one after the other.
        source_lang, target_lang: names of the languages in suffixes, keys and headers.
        cache_dir: where the cache lies; default: that of `datasets`.

    Returns:
        A data set with the column `translation`, a row for every line or record, in order.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: anything else that is wrong, with the file, the line and what to do.
    """
    if source_lang == target_lang:
        raise ValueError(f"Source and target language are both {source_lang!r}.")
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("No file to read.")
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"No such file: {file}.")
    tables = [_kind(file) in TABLES for file in files]
    if any(tables) and not all(tables):
        names = ", ".join(map(str, files))
        raise ValueError(f"Plain text and tables cannot be mixed in one call: {names}. Convert one kind to the other.")
    pairs = [(file,) for file in files] if tables[0] else _text_pairs(files, source_lang, target_lang)
    try:
        dataset = Dataset.from_generator(
            _records,
            gen_kwargs={
                "corpora": tuple(pairs),  # a tuple, because `datasets` would deal a list out to processes
                "source_lang": source_lang,
                "target_lang": target_lang,
                # Not used by the generator: they make the cache's key, so that an edited file is read anew.
                "versions": tuple((str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns) for f in files),
            },
            features=Features({"translation": Translation(languages=(source_lang, target_lang))}),
            cache_dir=cache_dir,
        )
    except DatasetGenerationError as error:
        raise (error.__cause__ or error) from None
    if not len(dataset):
        raise ValueError(f"Nothing in {', '.join(map(str, files))}: the corpus is empty.")
    return dataset


def _kind(file: Path) -> str:
    """The suffix that tells the format, compression aside."""
    suffixes = [suffix for suffix in file.suffixes if suffix not in OPENERS]
    return suffixes[-1] if suffixes else ""


def _text_pairs(files: list[Path], source_lang: str, target_lang: str) -> list[tuple[Path, ...]]:
    """Files taken two by two, the source first."""
    if len(files) % 2:
        raise ValueError(
            f"{len(files)} plain text files: parallel text comes in pairs, as in corpus.{source_lang} "
            f"corpus.{target_lang}. (Tables end in {', '.join(TABLES)}.)"
        )
    pairs: list[tuple[Path, ...]] = []
    for first, second in zip(files[::2], files[1::2], strict=True):
        named = (_kind(first), _kind(second))
        swapped = named == (f".{target_lang}", f".{source_lang}")
        pairs.append((second, first) if swapped else (first, second))
    return pairs


def _records(
    corpora: tuple[tuple[Path, ...], ...], source_lang: str, target_lang: str, versions: Any
) -> Iterator[dict[str, dict[str, str]]]:
    languages = (source_lang, target_lang)
    for files in corpora:
        for source, target in _parallel_lines(*files) if len(files) == 2 else _table(files[0], languages):
            yield {"translation": {source_lang: source, target_lang: target}}


def decoded_lines(stream: Iterable[bytes], name: str | Path) -> Iterator[str]:
    """Lines of UTF-8 text without their terminator (\\n or \\r\\n, and nothing else: U+2028 does not end a line).

    Args:
        stream: binary, a file or standard input; read line by line.
        name: what messages call it.

    Raises:
        ValueError: bytes that are not UTF-8, or a compressed file that is broken; with the line.
    """
    number, offset = 0, 0
    try:
        for raw in stream:
            number += 1
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            yield line.decode("utf-8")
            offset += len(raw)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {offset + error.start} of the text, 0x{error.object[error.start]:02x}, is "
            "not valid UTF-8. Convert the file (iconv -f LATIN1 -t UTF-8, say) or correct that line."
        ) from error
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: broken after line {number} ({error}). Fetch or compress it again.") from error


def file_lines(file: Path) -> Iterator[str]:
    """The lines of a text file, compressed or not; see `decoded_lines`."""
    with OPENERS.get(file.suffix, open)(file, "rb") as stream:
        yield from decoded_lines(stream, file)


def _parallel_lines(source_file: Path, target_file: Path) -> Iterator[tuple[str, str]]:
    """Lines of both files side by side."""
    source, target, number = file_lines(source_file), file_lines(target_file), 0
    missing = object()
    while True:
        pair = (next(source, missing), next(target, missing))
        if pair[0] is missing and pair[1] is missing:
            return
        if missing in pair:
            sides = zip(pair, (source, target), strict=True)
            counts = [number + (side is not missing) + sum(1 for _ in rest) for side, rest in sides]
            raise ValueError(
                f"{source_file} has {counts[0]} lines and {target_file} has {counts[1]}: parallel files need one line "
                "for one line. Nothing was read."
            )
        number += 1
        yield pair  # type: ignore[misc]


def _table(file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Source and target of every record of a table."""
    readers = {".json": _json, ".jsonl": _jsonl, ".tsv": _separated, ".csv": _separated, ".parquet": _parquet}
    for where, record in readers[_kind(file)](file, languages):
        if isinstance(record, dict) and isinstance(record.get("translation"), dict):
            record = record["translation"]
        if not isinstance(record, dict) or any(language not in record for language in languages):
            found = ", ".join(map(str, record)) if isinstance(record, dict) else type(record).__name__
            raise ValueError(
                f"{file}, {where}: it needs a column 'translation' with, or columns for, {languages[0]!r} and "
                f"{languages[1]!r}; found: {found}."
            )
        source, target = record[languages[0]], record[languages[1]]
        for language, text in zip(languages, (source, target), strict=True):
            if not isinstance(text, str):
                raise ValueError(f"{file}, {where}: {language!r} is {text!r}, which is no text. Correct or remove it.")
        yield source, target


def _parsed(file: Path, where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}, {where}: not valid JSON ({error}).") from error


def _jsonl(file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(file_lines(file), start=1):
        if line.strip():
            yield f"line {number}", _parsed(file, f"line {number}", line)


def _json(file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    """One array of records, or (as `datasets` writes .json) a record a line."""
    first = next(file_lines(file), "").lstrip()
    if not first.startswith("["):
        yield from _jsonl(file, languages)
        return
    records = _parsed(file, "the whole file", "\n".join(file_lines(file)))
    for number, record in enumerate(records, start=1):
        yield f"record {number}", record


def _separated(file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    """Tab-separated text is taken as it stands (a quote is a character); comma-separated text follows its quoting."""
    if _kind(file) == ".tsv":
        rows: Iterator[list[str]] = (line.split("\t") for line in file_lines(file))
    else:
        rows = csv.reader(f"{line}\n" for line in file_lines(file))
    header: list[str] | None = None
    for number, row in enumerate(rows, start=1):
        if number == 1:
            if set(languages) <= set(row):
                header = row
                continue
            header = list(languages)
        assert header is not None
        if len(row) != len(header):
            raise ValueError(
                f"{file}, line {number}: {len(row)} columns instead of {len(header)} ({', '.join(header)}). Without a "
                "header that names the languages a table has two columns, the source first."
            )
        yield f"line {number}", dict(zip(header, row, strict=True))


def _parquet(file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    try:
        table = pyarrow.parquet.ParquetFile(file)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{file}: not a Parquet file ({error}).") from error
    number = 0
    for batch in table.iter_batches():
        for record in batch.to_pylist():
            number += 1
            yield f"row {number}", record


# --- The Hub -------------------------------------------------------------------------------------------------------


def read_hub(
    name: str,
    config: str | None,
    split: str,
    source_lang: str,
    target_lang: str,
    *,
    revision: str | None = None,
) -> Dataset:
    """One split of a Hub data set with a `translation` column (wmt/wmt14, ...), or of a folder laid out like one.

    Of wmt14 there are two test sets: the full newstest2014 of 3003 sentences, which the paper's scores are for
    (wmt/wmt14 has it), and a filtered one of 2737 (sacreBLEU's `wmt14`). Which one was read is logged.

    Args:
        name: Hub id or folder.
        config: its configuration; a pair of languages is found in either order (en-de is de-en in wmt/wmt14).
        split: train, validation, test, or what the data set has.

    Raises:
        ValueError: no such configuration, split, column or language; the message lists those there are.
        ConnectionError: the data set is neither at hand nor to be had.
    """
    dataset = _load(name, config, split, revision)
    if "translation" not in dataset.column_names:
        raise ValueError(
            f"{name} has no column 'translation' but {', '.join(dataset.column_names)}. Write it as jsonl with "
            f"{source_lang!r} and {target_lang!r} and give that as train_files."
        )
    found = set(dataset[0]["translation"]) if len(dataset) else set()
    if not {source_lang, target_lang} <= found:
        raise ValueError(
            f"{name} ({config}) holds the languages {', '.join(sorted(found))}, not {source_lang} and {target_lang}."
        )
    if split == "test" and len(dataset) in NEWSTEST2014_LINES and "wmt14" in f"{name} {config}":
        logger.warning(f"{name} {split}: {len(dataset)} sentences, {NEWSTEST2014_LINES[len(dataset)]}.")
    return dataset.select_columns("translation")


def _load(name: str, config: str | None, split: str, revision: str | None) -> Dataset:
    swapped = "-".join(reversed(config.split("-"))) if config else None
    try:
        return load_dataset(name, config, split=split, revision=revision)
    except ValueError as error:
        text = str(error)
        if "BuilderConfig" in text and swapped != config:
            try:
                return load_dataset(name, swapped, split=split, revision=revision)
            except ValueError as second:
                text = str(second)
        if "Unknown split" in text:
            raise ValueError(f"{name} ({config}) has no split {split!r}: {text}.") from error
        raise
    except (ConnectionError, FileNotFoundError) as error:
        raise ConnectionError(
            f"{name} is neither a folder here nor in the cache, and the Hub cannot be asked ({error}). Unset "
            "HF_HUB_OFFLINE, or give local files: --train_files corpus.en corpus.de."
        ) from error


# --- Filters -------------------------------------------------------------------------------------------------------


def filter_pairs(
    dataset: Dataset,
    source_lang: str,
    target_lang: str,
    *,
    min_length: int = 1,
    max_length: int | None = None,
    max_ratio: float | None = None,
    num_proc: int | None = None,
) -> tuple[Dataset, dict[str, int]]:
    """Training pairs without those that teach nothing; how many went for which reason is logged.

    Args:
        min_length, max_length: fewest and most words (between spaces) of either side.
        max_ratio: most words of the longer side for each word of the shorter one; 1.5 is a common choice.

    Returns:
        The pairs kept, in order, and the counts "kept", "empty", "too_short", "too_long" and "ratio" (a pair is
        counted under the first that applies).

    Raises:
        ValueError: nothing is kept.
    """
    reasons = np.array(["kept", "empty", "too_short", "too_long", "ratio"])

    def judge(examples: dict[str, list[Any]]) -> dict[str, list[int]]:
        words = np.array(
            [[len(pair[source_lang].split()), len(pair[target_lang].split())] for pair in examples["translation"]]
        )
        shorter, longer = words.min(1), words.max(1)
        ratio = longer > shorter * max_ratio if max_ratio is not None else np.zeros(len(words), dtype=bool)
        long = longer > max_length if max_length is not None else np.zeros(len(words), dtype=bool)
        return {"reason": np.select([shorter == 0, shorter < min_length, long, ratio], [1, 2, 3, 4], 0).tolist()}

    columns = dataset.column_names
    judged = dataset.map(judge, batched=True, num_proc=num_proc, remove_columns=columns, desc="Filtering")
    reason = np.array(judged.with_format("numpy")["reason"][:], dtype=int)
    counts = {str(name): int((reason == number).sum()) for number, name in enumerate(reasons)}
    text = ", ".join(f"{name} {count}" for name, count in counts.items())
    if not counts["kept"]:
        raise ValueError(f"The filters left no pair ({text}): relax min_words, max_words or max_ratio.")
    if counts["kept"] == len(dataset):
        return dataset, counts
    logger.warning(f"Filters: {text}.")
    return dataset.select(np.flatnonzero(reason == 0)), counts
