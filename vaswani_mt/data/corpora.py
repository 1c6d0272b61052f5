"""Parallel text from files, folders and the Hub, always as one column `translation` of {source: ..., target: ...}.

That is the schema of wmt/wmt14 on the Hub. Reading keeps every line and its order; `filter_pairs` is another step.
"""

import bz2
import csv
import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datasets import Dataset
from transformers.utils import logging

logger = logging.get_logger(__name__)

Languages = tuple[str, str]
Files = tuple[Path, ...]  # of one corpus: two of plain text, or one table

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
TABLES = (".json", ".jsonl", ".tsv", ".csv", ".parquet")
HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")  # surrogates: JSON can hold one alone, UTF-8 cannot
NEWSTEST2014 = {3003: "the full newstest2014, the paper's", 2737: "a filtered newstest2014, not the paper's of 3003"}


# --- Files ---------------------------------------------------------------------------------------------------------


def read_files(
    paths: Sequence[str | Path], source_lang: str, target_lang: str, *, cache_dir: str | None = None
) -> Dataset:
    r"""Parallel text from local files, memory-mapped from a cache that follows the files' size and date.

    Text is UTF-8; a line of plain text ends with \n or \r\n and nothing else, and keeps all other whitespace. Files
    are read as a stream (save a .json that is one array). Of several processes that ask for the same files at once,
    one reads them and the others wait.

    Args:
        paths: either parallel plain text, two files a corpus (`a.en a.de b.en b.de`; the suffixes tell the languages,
            or if neither is one, the source comes first), or tables: json and jsonl ({"translation": {"en": ...,
            "de": ...}} or {"en": ..., "de": ...}), parquet (alike), csv (its header names the languages) and tsv (such
            a header, or two columns without one, the source first; a quote is a character). All but parquet also as
            .gz, .bz2 or .xz. Several are read one after the other.
        source_lang, target_lang: names of the languages in suffixes, keys and headers.
        cache_dir: where the cache lies; default: that of `datasets`.

    Returns:
        A data set with the column `translation`, a row for every line or record, in order.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: anything else that is wrong, with the file, the line and what to do.
    """
    files, languages = _checked(paths, source_lang, target_lang)
    builder = _ParallelText(
        dataset_name="parallel_text",
        cache_dir=cache_dir,
        corpora=_corpora(files, languages),
        languages=languages,
        versions=tuple((file.stat().st_size, file.stat().st_mtime_ns) for file in files),
    )
    try:
        builder.download_and_prepare()
    except datasets.exceptions.DatasetGenerationError as error:
        raise (error.__cause__ or error) from None
    return builder.as_dataset(split="train")


def stream_files(paths: Sequence[str | Path], source_lang: str, target_lang: str) -> datasets.IterableDataset:
    """The same pairs as `read_files`, read when they are asked for and kept nowhere; a shard for every corpus.

    Raises: as `read_files`; errors inside the files come when they are reached.
    """
    files, languages = _checked(paths, source_lang, target_lang)
    return datasets.IterableDataset.from_generator(
        _stream, gen_kwargs={"corpora": list(_corpora(files, languages)), "languages": languages}
    )


def _stream(corpora: list[Files], languages: Languages) -> Iterator[dict[str, dict[str, str]]]:
    for files in corpora:
        pairs = _parallel_lines(*files) if len(files) == 2 else _table(files[0], languages)
        for texts in pairs:
            yield {"translation": dict(zip(languages, texts, strict=True))}


def _checked(paths: Sequence[str | Path], source_lang: str, target_lang: str) -> tuple[list[Path], Languages]:
    """The files, all there, and the languages, which differ."""
    if source_lang == target_lang:
        raise ValueError(f"Source and target language are both {source_lang!r}.")
    files = [Path(path).absolute() for path in paths]
    if not files:
        raise ValueError("No file to read.")
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"No such file: {file}.")
    return files, (source_lang, target_lang)


def _kind(file: Path) -> str:
    """The suffix that tells the format or the language, compression aside."""
    return next((suffix for suffix in reversed(file.suffixes) if suffix not in OPENERS), "")


def _corpora(files: list[Path], languages: Languages) -> tuple[Files, ...]:
    """Tables one by one, or plain text two by two with the source first."""
    names, endings = ", ".join(map(str, files)), ", ".join(TABLES)
    tables = [_kind(file) in TABLES for file in files]
    if all(tables):
        return tuple((file,) for file in files)
    if any(tables):
        raise ValueError(f"{names}: some are tables ({endings}) and some plain text. Convert one kind to the other.")
    source, target = (f".{language}" for language in languages)
    how = f"two by two, as in a{source} a{target} b{source} b{target}"
    if len(files) % 2:
        raise ValueError(f"{names}: an odd number of plain text files. Give them {how}; tables end in {endings}.")
    pairs: list[Files] = []
    for first, second in zip(files[::2], files[1::2], strict=True):
        kinds = (_kind(first), _kind(second))
        if kinds == (target, source):
            first, second = second, first
        elif first == second or (kinds != (source, target) and {source, target} & set(kinds)):
            raise ValueError(f"{first} and {second} are no pair of {source} and {target}. Give the files {how}.")
        pairs.append((first, second))
    return tuple(pairs)


@dataclass
class _ParallelTextConfig(datasets.BuilderConfig):
    """What is read. It is the key of the cache: `versions` is here so that an edited file is read anew."""

    corpora: tuple[Files, ...] = ()
    languages: Languages = ("", "")
    versions: tuple[tuple[int, int], ...] = ()  # size and time of change of every file


class _ParallelText(datasets.ArrowBasedBuilder):
    """A builder and not `Dataset.from_generator`, which encodes row by row and takes three times as long."""

    BUILDER_CONFIG_CLASS = _ParallelTextConfig
    VERSION = datasets.Version("1.0.0")  # in the key of the cache too: raise it when files come to be read differently

    def _info(self) -> datasets.DatasetInfo:
        features = datasets.Features({"translation": datasets.Translation(languages=self.config.languages)})
        return datasets.DatasetInfo(features=features)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name="train")]

    def _generate_tables(self) -> Iterator[tuple[int, pa.Table]]:
        languages, schema, number = self.config.languages, self.info.features.arrow_schema, 0
        fields = list(schema.field("translation").type)
        for files in self.config.corpora:
            pairs = _parallel_lines(*files) if len(files) == 2 else _table(files[0], languages)
            first = number
            while batch := list(islice(pairs, 10_000)):
                columns = dict(zip(languages, zip(*batch, strict=True), strict=True))
                arrays = [pa.array(columns[field.name], field.type) for field in fields]
                yield number, pa.table([pa.StructArray.from_arrays(arrays, fields=fields)], schema=schema)
                number += 1
            if number == first:
                raise ValueError(f"Nothing in {' and '.join(map(str, files))}: make it again, or leave it out.")


def decoded_lines(stream: Iterable[bytes], name: str | Path) -> Iterator[str]:
    r"""Lines of UTF-8 text without their terminator (\n or \r\n, and nothing else: U+2028 does not end a line).

    Args:
        stream: binary, a file or standard input; read line by line. A byte order mark at its start is dropped.
        name: what messages call it.

    Raises:
        ValueError: bytes that are not UTF-8, or a compressed file that is broken; with the line.
    """
    number = offset = 0
    try:
        for raw in stream:
            number += 1
            line = (raw[:-2] if raw.endswith(b"\r\n") else raw.removesuffix(b"\n")).decode("utf-8")
            yield line.removeprefix("\ufeff") if number == 1 else line
            offset += len(raw)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {offset + error.start} of the text, 0x{error.object[error.start]:02x}, is "
            "not valid UTF-8. Convert the file (iconv -f LATIN1 -t UTF-8, say) or correct that line."
        ) from error
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if getattr(error, "errno", None) is not None:  # from the operating system, not from decompression
            raise
        raise ValueError(f"{name}: broken after line {number} ({error}). Fetch or compress it again.") from error


def file_lines(file: Path) -> Iterator[str]:
    """The lines of a text file, compressed or not; see `decoded_lines`."""
    with OPENERS.get(file.suffix, open)(file, "rb") as stream:
        yield from decoded_lines(stream, file)


def _parallel_lines(source_file: Path, target_file: Path) -> Iterator[tuple[str, str]]:
    """Lines of both files side by side."""
    source, target = file_lines(source_file), file_lines(target_file)
    for number, (line, other) in enumerate(zip_longest(source, target)):
        if line is None or other is None:
            lines = number + (line is not None) + sum(1 for _ in source)
            others = number + (other is not None) + sum(1 for _ in target)
            raise ValueError(
                f"{source_file} has {lines} lines and {target_file} has {others}: parallel files need as many as each "
                "other. No line was dropped to make them fit; correct the files."
            )
        yield line, other


def _table(file: Path, languages: Languages) -> Iterator[tuple[str, str]]:
    """Source and target of every record of a table."""
    readers = {".json": _json, ".jsonl": _jsonl, ".tsv": _separated, ".csv": _separated, ".parquet": _parquet}
    for where, record in readers[_kind(file)](file, languages):
        if isinstance(record, dict) and not set(languages) <= set(record):
            record = record.get("translation", record)
        if not isinstance(record, dict):
            raise ValueError(f"{file}, {where}: {record!s:.80} instead of a text for each language, by name.")
        _check_columns(record, languages, f"{file}, {where}")
        texts = (record[languages[0]], record[languages[1]])
        for language, text in zip(languages, texts, strict=True):
            if not isinstance(text, str) or HALF_A_CHARACTER.search(text):
                raise ValueError(f"{file}, {where}: {language!r} is {text!a:.80}, no text. Correct or remove the row.")
        yield texts


def _check_columns(found: Iterable[str], languages: Languages, where: str) -> None:
    if not set(languages) <= set(found):
        raise ValueError(
            f"{where}: no columns {languages[0]!r} and {languages[1]!r}, nor a column 'translation' of both; found: "
            f"{', '.join(map(repr, found)) or 'none'}. Rename them, or give the languages as they are named there."
        )


def _parsed(file: Path, where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        how = "Write one object a line, or (.json only) one array"
        raise ValueError(f"{file}, {where}: not valid JSON ({error}). {how}.") from error


def _jsonl(file: Path, languages: Languages) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(file_lines(file), start=1):
        if line.strip():
            yield f"line {number}", _parsed(file, f"line {number}", line)


def _json(file: Path, languages: Languages) -> Iterator[tuple[str, Any]]:
    """One array of records, or (as `datasets` writes .json) a record a line."""
    start = next((line for line in file_lines(file) if line.strip()), "")
    if not start.lstrip().startswith("["):
        yield from _jsonl(file, languages)
        return
    for number, record in enumerate(_parsed(file, "the array", "\n".join(file_lines(file))), start=1):
        yield f"record {number}", record


def _separated(file: Path, languages: Languages) -> Iterator[tuple[str, Any]]:
    """Tab-separated text is taken as it stands (a quote is a character); comma-separated text follows its quoting."""
    tabs, number = _kind(file) == ".tsv", 0
    # strict: or else a quote that is never closed swallows all lines after it without a word
    reader = csv.reader((f"{line}\n" for line in file_lines(file)), strict=True)
    rows: Iterator[list[str]] = (line.split("\t") for line in file_lines(file)) if tabs else reader
    header: list[str] | None = None
    try:
        for row in rows:
            number = number + 1 if tabs else reader.line_num
            if header is None:
                headless = tabs and len(row) == 2 and not set(row) & set(languages)
                header = list(languages) if headless else row
                _check_columns(header, languages, f"{file}, line {number}")
                if not headless:
                    continue
            if len(row) != len(header):
                names = ", ".join(header)
                raise ValueError(f"{file}, line {number}: {len(row)} columns instead of {len(header)} ({names}).")
            yield f"line {number}", dict(zip(header, row, strict=True))
    except csv.Error as error:
        how = "A field with a quote in it is quoted, its quotes doubled"
        raise ValueError(f"{file}, the row after line {number}: not valid csv ({error}). {how}.") from error


def _parquet(file: Path, languages: Languages) -> Iterator[tuple[str, Any]]:
    number = 0
    try:
        with pq.ParquetFile(file) as table:
            names = table.schema_arrow.names
            if "translation" not in names:
                _check_columns(names, languages, str(file))
            for batch in table.iter_batches(columns=[name for name in names if name in ("translation", *languages)]):
                for record in batch.to_pylist():
                    number += 1
                    yield f"row {number}", record
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file}: not a whole Parquet file ({error}). Fetch or write it again.") from error


# --- The Hub -------------------------------------------------------------------------------------------------------


def read_hub(
    name: str, config: str | None, split: str, source_lang: str, target_lang: str, *, revision: str | None = None
) -> Dataset:
    """One split of a Hub data set with a `translation` column (wmt/wmt14, ...), or of a folder laid out like one.

    There are two test sets of WMT14 En-De: the full newstest2014 of 3003 sentences, which the paper's scores are for
    (wmt/wmt14 has it), and a filtered one of 2737 (sacreBLEU's `wmt14`). Which one was read is logged.

    Args:
        name: Hub id or folder.
        config: its configuration, or subfolder; a pair of languages is found in either order (en-de is de-en in
            wmt/wmt14).
        split: train, validation, test, or what the data set has.
        source_lang, target_lang: languages within `translation`.
        revision: of the Hub data set.

    Returns:
        The split in its order, with the one column `translation`.

    Raises:
        ValueError: no such configuration, split, column or language, or a row without a text.
        FileNotFoundError: there is no such data set, or it is empty.
        ConnectionError: it is neither at hand nor to be had.
    """
    dataset = _load(name, config, split, revision)
    what = f"{name} ({split} of {config or 'its only configuration'})"
    if "translation" not in dataset.column_names:
        raise ValueError(
            f"{what} has no column 'translation' but {', '.join(dataset.column_names)}. Write a jsonl file of "
            f'{{"{source_lang}": ..., "{target_lang}": ...}} and give that: --train_files, --validation_files, ...'
        )
    texts = dataset.data.column("translation")
    found = [field.name for field in texts.type] if pa.types.is_struct(texts.type) else [str(texts.type)]
    for language in (source_lang, target_lang):
        if language not in found:
            raise ValueError(f"{what} has no {language!r}: its column 'translation' holds {', '.join(found)}.")
        if nulls := pc.struct_field(texts, language).null_count:
            raise ValueError(f"{what}: {nulls} rows have no text for {language!r}. Remove them.")
    if split == "test" and "wmt14" in name:
        lines = len(dataset)
        level = logging.WARNING if lines == 2737 else logging.INFO
        logger.log(level, f"{what}: {lines} sentences, {NEWSTEST2014.get(lines, 'no known version of newstest2014')}.")
    return dataset.select_columns("translation")


def stream_hub(
    name: str, config: str | None, split: str, source_lang: str, target_lang: str, *, revision: str | None = None
) -> datasets.IterableDataset:
    """The same pairs as `read_hub`, fetched when they are asked for and kept nowhere; see there.

    Raises: as `read_hub`; a row without a text is found when it is reached.
    """
    dataset = _load(name, config, split, revision, streaming=True)
    first = next(iter(dataset), None)
    if first is None or "translation" not in first:
        raise ValueError(f"{name} ({split} of {config}) has no row with 'translation', or no row at all.")
    _check_columns(first["translation"], (source_lang, target_lang), f"{name}, column 'translation'")
    return dataset.select_columns("translation")


def _load(name: str, config: str | None, split: str, revision: str | None, *, streaming: bool = False) -> Any:
    choices = [(name, config)]
    if config:
        swapped = "-".join(reversed(config.split("-")))
        folders = [folder for pair in (config, swapped) if (folder := Path(name, pair)).is_dir()]
        choices += [(name, swapped), *((str(folder), None) for folder in folders)]
    unknown: ValueError | None = None
    for path, configuration in choices:
        try:
            return datasets.load_dataset(path, configuration, split=split, revision=revision, streaming=streaming)
        except ConnectionError as error:
            raise ConnectionError(
                f"{name} is neither a folder here nor in the cache, and the Hub is out of reach ({error}). Unset "
                "HF_HUB_OFFLINE if it is set, or give local files: --train_files corpus.en corpus.de."
            ) from error
        except ValueError as error:
            if "BuilderConfig" in str(error) or "Couldn't find cache" in str(error):
                unknown = unknown or error
            else:  # an unknown split, say: the message lists those there are
                raise ValueError(f"{name} ({config}): {error}") from error
        except datasets.exceptions.DatasetGenerationError as error:
            how = "If it holds several language pairs, give the configuration"
            raise ValueError(f"{name} ({config}) cannot be read as one table. {how}. {error.__cause__}") from error
    raise ValueError(f"{name} has no configuration {config!r}: {unknown}") from unknown


# --- Filters -------------------------------------------------------------------------------------------------------


def _reasons(
    pairs: Sequence[dict[str, str]],
    source_lang: str,
    target_lang: str,
    min_length: int,
    max_length: int | None,
    max_ratio: float | None,
) -> np.ndarray:
    """Why each pair goes: 0 (it stays), 1 empty, 2 too short, 3 too long, 4 ratio; see `filter_pairs`. int [n]."""
    words = np.array([(len(pair[source_lang].split()), len(pair[target_lang].split())) for pair in pairs])
    shorter, longer = words.min(axis=1), words.max(axis=1)
    too_long = longer > (np.inf if max_length is None else max_length)
    ratio = longer / np.maximum(shorter, 1) > (np.inf if max_ratio is None else max_ratio)
    return np.select([shorter == 0, shorter < min_length, too_long, ratio], [1, 2, 3, 4], 0)


def filter_stream(
    dataset: datasets.IterableDataset,
    source_lang: str,
    target_lang: str,
    *,
    min_length: int = 1,
    max_length: int | None = None,
    max_ratio: float | None = None,
) -> datasets.IterableDataset:
    """As `filter_pairs`, of a stream: nothing is counted, and nothing is read before it is asked for."""
    limits = (source_lang, target_lang, min_length, max_length, max_ratio)
    return dataset.filter(lambda example: _reasons([example["translation"]], *limits)[0] == 0)


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
        dataset: with the column `translation`.
        source_lang, target_lang: languages within it.
        min_length, max_length: fewest and most words (between whitespace) of either side.
        max_ratio: most words of the longer side for each word of the shorter one; 1.5 is a common choice.
        num_proc: processes that count words.

    Returns:
        The pairs kept, in order, and the counts "kept", "empty", "too_short", "too_long" and "ratio" (a pair is
        counted under the first that applies).

    Raises:
        ValueError: nothing is kept.
    """

    def judge(examples: dict[str, list[Any]]) -> dict[str, np.ndarray]:
        limits = (source_lang, target_lang, min_length, max_length, max_ratio)
        return {"reason": _reasons(examples["translation"], *limits)}

    reason = np.zeros(0, dtype=int)
    if len(dataset):
        columns = dataset.column_names
        judged = dataset.map(judge, batched=True, num_proc=num_proc, remove_columns=columns, desc="Filtering")
        reason = judged.with_format("numpy")["reason"][:]
    names = ("kept", "empty", "too_short", "too_long", "ratio")
    counts = {name: int((reason == number).sum()) for number, name in enumerate(names)}
    text = ", ".join(f"{name} {count}" for name, count in counts.items())
    if not counts["kept"]:
        raise ValueError(f"The filters left no pair ({text}): relax the limits of length and ratio.")
    if counts["kept"] == len(dataset):
        logger.info(f"Filters: {text}.")
        return dataset, counts
    logger.warning(f"Filters: {text}.")
    return dataset.select(np.flatnonzero(reason == 0)), counts
