"""Reading parallel text from files and data set folders, and filtering it."""

import bz2
import codecs
import gzip
import io
import json
import logging
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset

from vaswani_mt.data.corpora import decoded_lines, filter_pairs, read_files, read_hub

MULTI30K = Path(__file__).parents[3] / "shared" / "data" / "multi30k"
SIZES = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
REAL = [(name, language) for name in SIZES for language in ("de", "fr") if (MULTI30K / f"{name}.en").exists()]

PAIRS = [("A dog sleeps.", "Ein Hund schläft."), ("Two men", "Zwei Männer"), ('He says "no".', "Er sagt „nein“.")]
RECORDS = [{"en": source, "de": target} for source, target in PAIRS]
WMT14 = pa.schema({"translation": pa.struct({"de": pa.string(), "en": pa.string()})})  # of wmt/wmt14, de-en


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Every test has a cache of its own."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
    return folder


def pairs_of(dataset, source="en", target="de"):
    return [(pair[source], pair[target]) for pair in dataset["translation"]]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_text(folder, name="train", pairs=PAIRS):
    """name.en and name.de."""
    return [
        write(folder / f"{name}.{lang}", "".join(f"{p[i]}\n" for p in pairs)) for i, lang in enumerate(("en", "de"))
    ]


def write_parquet(path, pairs=PAIRS, languages=("en", "de")):
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema({"translation": pa.struct({language: pa.string() for language in sorted(languages)})})
    rows = [{"translation": dict(zip(languages, pair, strict=True))} for pair in pairs]
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


def as_csv(records):
    quoted = [
        "{},{}".format(*(f'"{record[lang].replace(chr(34), chr(34) * 2)}"' for lang in ("en", "de")))
        for record in records
    ]
    return "\n".join(["en,de", *quoted]) + "\n"


TABLES = {
    "nested.jsonl": "".join(json.dumps({"id": 1, "translation": record}) + "\n" for record in RECORDS),
    "flat.jsonl": "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS) + "\n",
    "lines.json": "".join(json.dumps(record) + "\n" for record in RECORDS),
    "array.json": json.dumps([{"translation": record} for record in RECORDS], indent=2),
    "headless.tsv": "".join(f"{source}\t{target}\n" for source, target in PAIRS),
    "header.tsv": "id\tde\ten\n" + "".join(f"7\t{target}\t{source}\n" for source, target in PAIRS),
    "header.csv": as_csv(RECORDS),
}
COMPRESSORS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


# --- Plain text ----------------------------------------------------------------------------------------------------


def test_plain_text_has_the_schema_of_wmt14_and_the_order_of_the_files(tmp_path):
    dataset = read_files(write_text(tmp_path), "en", "de")
    assert dataset.column_names == ["translation"]
    assert dataset.data.schema.field("translation").type == WMT14.field("translation").type
    assert pairs_of(dataset) == PAIRS
    assert dataset.cache_files, "must be memory-mapped"


def test_the_suffix_decides_which_file_is_the_source(tmp_path):
    english, german = write_text(tmp_path)
    assert pairs_of(read_files([german, english], "en", "de")) == PAIRS
    swapped = [(target, source) for source, target in PAIRS]
    assert pairs_of(read_files([english, german], "de", "en"), "de", "en") == swapped


def test_without_language_suffixes_the_source_comes_first(tmp_path):
    first, second = write(tmp_path / "a.txt", "one\n"), write(tmp_path / "b.txt", "eins\n")
    assert pairs_of(read_files([first, second], "en", "de")) == [("one", "eins")]
    assert pairs_of(read_files([second, first], "en", "de")) == [("eins", "one")]


def test_several_corpora_are_read_one_after_the_other(tmp_path):
    files = write_text(tmp_path, "a", PAIRS[:1]) + write_text(tmp_path, "b", PAIRS[1:])[::-1]
    assert pairs_of(read_files([str(file) for file in files], "en", "de")) == PAIRS


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_text(tmp_path, ending):
    files = [write(Path(f"{file}{ending}"), COMPRESSORS[ending](file.read_bytes())) for file in write_text(tmp_path)]
    assert pairs_of(read_files(files[::-1], "en", "de")) == PAIRS


def test_only_line_feeds_end_a_line_and_other_whitespace_stays(tmp_path):
    lines = [
        "next line \x85, line separator \u2028, paragraph separator \u2029, form feed \x0c, file separator \x1c",
        " \tleading, trailing, no-break\xa0 ",
        "a \r inside and \r",
        "",
        "the last without an end\r",
    ]
    source = write(tmp_path / "a.en", "\n".join(lines))
    target = write(tmp_path / "a.de", "eins\r\nzwei\r\ndrei\r\n\r\nfünf\r\n")
    expected = zip([*lines[:2], "a \r inside and ", *lines[3:]], ["eins", "zwei", "drei", "", "fünf"], strict=True)
    assert pairs_of(read_files([source, target], "en", "de")) == list(expected)


def test_a_byte_order_mark_is_dropped_at_the_start_only(tmp_path):
    source = write(tmp_path / "a.en", codecs.BOM_UTF8 + "one\n\ufefftwo\n".encode())
    target = write(tmp_path / "a.de", "eins\nzwei\n")
    assert pairs_of(read_files([source, target], "en", "de")) == [("one", "eins"), ("\ufefftwo", "zwei")]


@pytest.mark.parametrize(("name", "language"), [("embedded", "de"), *REAL])
def test_a_round_trip_gives_the_bytes_of_the_files(tmp_path, name, language):
    if name == "embedded":
        files = write_text(tmp_path, name, PAIRS * 7000)  # more than one batch of rows
    else:
        files = [MULTI30K / f"{name}.en", MULTI30K / f"{name}.{language}"]
    dataset = read_files(files, "en", language)
    assert len(dataset) == (SIZES | {"embedded": 21_000})[name]
    for side, file in zip(zip(*pairs_of(dataset, "en", language), strict=True), files, strict=True):
        assert "".join(f"{line}\n" for line in side).encode() == file.read_bytes()


def test_lines_of_a_stream_come_one_by_one():
    stream = io.BytesIO(b"eins\r\nzwei\ndrei")
    assert next(decoded_lines(stream, "standard input")) == "eins"
    assert stream.readline() == b"zwei\n"
    assert list(decoded_lines(stream, "standard input")) == ["drei"]


# --- Tables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_tables_give_the_same_pairs_as_plain_text(tmp_path, name):
    assert pairs_of(read_files([write(tmp_path / name, TABLES[name])], "en", "de")) == PAIRS


@pytest.mark.parametrize("ending", COMPRESSORS)
@pytest.mark.parametrize("name", TABLES)
def test_compressed_tables(tmp_path, name, ending):
    file = write(tmp_path / f"{name}{ending}", COMPRESSORS[ending](TABLES[name].encode()))
    assert pairs_of(read_files([file], "en", "de")) == PAIRS


def test_parquet_in_the_schema_of_wmt14(tmp_path):
    file = write_parquet(tmp_path / "train-00000-of-00001.parquet")
    assert pq.read_schema(file).remove_metadata() == WMT14
    assert pairs_of(read_files([file], "en", "de")) == PAIRS
    assert pairs_of(read_files([file], "de", "en"), "de", "en") == [(target, source) for source, target in PAIRS]


def test_parquet_with_a_column_for_each_language(tmp_path):
    pq.write_table(pa.Table.from_pylist([{"line": 1, **record} for record in RECORDS]), tmp_path / "a.parquet")
    assert pairs_of(read_files([tmp_path / "a.parquet"], "en", "de")) == PAIRS


def test_what_datasets_exports_is_read_back(tmp_path):
    dataset = Dataset.from_list([{"translation": record} for record in RECORDS])
    dataset.to_json(tmp_path / "a.json")
    dataset.to_parquet(tmp_path / "a.parquet")
    Dataset.from_list(RECORDS).to_csv(tmp_path / "a.csv")
    for kind in ("json", "parquet", "csv"):
        assert pairs_of(read_files([tmp_path / f"a.{kind}"], "en", "de")) == PAIRS


def test_tables_of_several_kinds_are_read_one_after_the_other(tmp_path):
    files = [write(tmp_path / name, TABLES[name]) for name in ("flat.jsonl", "header.csv", "headless.tsv")]
    assert pairs_of(read_files(files, "en", "de")) == PAIRS * 3


def test_tabs_separate_whatever_else_a_line_holds_and_csv_fields_may_hold_line_ends(tmp_path):
    tsv = write(tmp_path / "a.tsv", 'a "quote\t\u2028 Zeile \r\x0c\r\n"b"\t"c"\r\n')
    assert pairs_of(read_files([tsv], "en", "de")) == [('a "quote', "\u2028 Zeile \r\x0c"), ('"b"', '"c"')]
    comma = write(tmp_path / "a.csv", 'en,de\r\n"one,\ntwo","eins"\r\n')
    assert pairs_of(read_files([comma], "en", "de")) == [("one,\ntwo", "eins")]


# --- The cache -----------------------------------------------------------------------------------------------------


def test_an_unchanged_file_is_not_read_again_and_an_edited_one_is(tmp_path):
    files = write_text(tmp_path)
    cached = Path(read_files(files, "en", "de").cache_files[0]["filename"])
    written = cached.stat().st_mtime_ns
    assert Path(read_files(files, "en", "de").cache_files[0]["filename"]) == cached
    assert cached.stat().st_mtime_ns == written

    before = files[0].stat()
    write(files[0], files[0].read_bytes().replace(b"dog", b"cat"))
    os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert files[0].stat().st_size == before.st_size
    assert pairs_of(read_files(files, "en", "de"))[0][0] == "A cat sleeps."

    before = files[1].stat()
    write(files[1], files[1].read_bytes().replace("schläft".encode(), b"wacht"))
    os.utime(files[1], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files[1].stat().st_size != before.st_size
    assert pairs_of(read_files(files, "en", "de"))[0] == ("A cat sleeps.", "Ein Hund wacht.")


def test_relative_paths_are_told_apart_by_the_working_directory(tmp_path, monkeypatch):
    for number in ("one", "two"):
        for file in write_text(tmp_path / number, pairs=[(number, number)]):
            os.utime(file, ns=(0, 0))
        monkeypatch.chdir(tmp_path / number)
        dataset = read_files(["train.en", "train.de"], "en", "de")
        assert pairs_of(dataset) == [(number, number)]
    absolute = read_files([tmp_path / "two" / "train.en", tmp_path / "two" / "train.de"], "en", "de")
    assert absolute.cache_files == dataset.cache_files


def test_cache_dir_is_where_the_cache_lies(tmp_path):
    dataset = read_files(write_text(tmp_path), "en", "de", cache_dir=str(tmp_path / "elsewhere"))
    assert Path(dataset.cache_files[0]["filename"]).is_relative_to(tmp_path / "elsewhere")


def test_a_failed_reading_leaves_nothing_in_the_cache(tmp_path):
    english, german = write_text(tmp_path, pairs=PAIRS * 5000)
    write(german, german.read_bytes()[:-30])
    for _ in range(2):
        with pytest.raises(ValueError, match="15000 lines and"):
            read_files([english, german], "en", "de")


def test_two_processes_at_once_read_the_files_once_and_see_the_same(tmp_path, cache):
    files = [str(file) for file in write_text(tmp_path, pairs=PAIRS * 20_000)]
    code = (
        "import sys; from vaswani_mt.data.corpora import read_files; "
        "dataset = read_files(sys.argv[1:], 'en', 'de'); "
        "print(len(dataset), dataset[59_999]['translation']['de'], dataset.cache_files[0]['filename'])"
    )
    environment = os.environ | {"HF_DATASETS_CACHE": str(cache)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][0].decode().startswith("60000 Er sagt „nein“. ")
    assert sum(b"Generating train split" in stderr for _, stderr in outputs) == 1


# --- Wrong files ---------------------------------------------------------------------------------------------------


def test_unequal_numbers_of_lines_are_counted_in_both_files(tmp_path):
    for lines in (1, 4):
        english, german = write_text(tmp_path)
        write(german, "Zeile\n" * lines)
        with pytest.raises(
            ValueError, match=rf"train.en has 3 lines and \S*train.de has {lines}: .* No line was dropped"
        ):
            read_files([german, english], "en", "de")


def test_invalid_utf8_names_file_line_and_byte(tmp_path):
    source = write(tmp_path / "a.en", codecs.BOM_UTF8 + "eins\nMänner\n".encode() + "für".encode("latin-1"))
    # The mark is 3 bytes, "eins\n" 5, "Männer\n" 8, "f" 1.
    with pytest.raises(ValueError, match=r"a\.en, line 3: byte 17 of the text, 0xfc, is not valid UTF-8"):
        read_files([source, write(tmp_path / "a.de", "a\nb\nc\n")], "en", "de")
    with pytest.raises(ValueError, match=r"b\.en, line 1: byte 0 of the text, 0xff, is not valid UTF-8"):
        read_files([write(tmp_path / "b.en", "one".encode("utf-16")), tmp_path / "a.de"], "en", "de")


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_broken_compressed_files(tmp_path, ending):
    words = "".join(f"{number * 7919 % 10007}\n" for number in range(50_000)).encode()
    whole = COMPRESSORS[ending](words)
    target = write(tmp_path / "a.de", words)
    middle = len(whole) // 2
    broken = {
        "cut short": whole[:-12],
        "damaged": whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 40]) + whole[middle + 40 :],
        "not compressed": words,
    }
    for content in broken.values():
        with pytest.raises(ValueError, match=rf"a\.en{ending}: broken after line \d+ \(.*Fetch or compress it again"):
            read_files([write(tmp_path / f"a.en{ending}", content), target], "en", "de")


def test_missing_files(tmp_path):
    english, _ = write_text(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"No such file: .*absent\.de"):
        read_files([english, tmp_path / "absent.de"], "en", "de")
    with pytest.raises(ValueError, match="No file to read"):
        read_files([], "en", "de")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.tsv", "a.csv", "a.parquet", "a.en"])
def test_empty_files(tmp_path, name):
    content = {"a.json": "[]", "a.tsv": "en\tde\n", "a.csv": "en,de\n"}.get(name, "")
    files = [write_parquet(tmp_path / name, []) if name == "a.parquet" else write(tmp_path / name, content)]
    good = [write(tmp_path / "b.jsonl", TABLES["flat.jsonl"])]
    if name == "a.en":
        files, good = [*files, write(tmp_path / "a.de", "")], write_text(tmp_path)
    for paths in (files, good + files):
        with pytest.raises(ValueError, match=rf"Nothing in .*{name}"):
            read_files(paths, "en", "de")


def test_files_that_are_no_pairs(tmp_path):
    english, german = write_text(tmp_path)
    french = write(tmp_path / "train.fr", "Un chien dort.\nDeux\nIl\n")
    with pytest.raises(ValueError, match=r"train\.xlsx: an odd number of plain text files.*tables end in \.json"):
        read_files([write(tmp_path / "train.xlsx", "")], "en", "de")
    with pytest.raises(ValueError, match=r"an odd number of plain text files.*a\.en a\.de b\.en b\.de"):
        read_files([english, german, french], "en", "de")
    for wrong in ([english, english], [english, french], [french, german], [german, french]):
        with pytest.raises(ValueError, match=r"are no pair of \.en and \.de"):
            read_files(wrong, "en", "de")
    plain = write(tmp_path / "plain.txt", "one\n")
    with pytest.raises(ValueError, match=r"plain\.txt and \S*plain\.txt are no pair"):
        read_files([plain, plain], "en", "de")


def test_plain_text_and_tables_in_one_call(tmp_path):
    table = write(tmp_path / "a.jsonl", TABLES["flat.jsonl"])
    with pytest.raises(ValueError, match=r"a\.jsonl: some are tables .* and some plain text"):
        read_files([*write_text(tmp_path), table], "en", "de")


def test_one_language_twice(tmp_path):
    with pytest.raises(ValueError, match="both 'en'"):
        read_files(write_text(tmp_path), "en", "en")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.jsonl",
            '{"en": "a", "de": "b"}\n\n{"en": "a", "fr": "b"}\n',
            r"line 3: no columns 'en' and 'de'.*'en', 'fr'",
        ),
        ("a.jsonl", '{"translation": {"en": "a", "fr": "b"}}\n', r"line 1: no columns 'en' and 'de'.*'en', 'fr'"),
        ("a.jsonl", '{"translation": null}\n', r"line 1: None instead of a text for each language"),
        ("a.jsonl", '{"en": "a", "de": "b"}\n["a", "b"]\n', r"line 2: \['a', 'b'\] instead of"),
        ("a.jsonl", '{"en": "a", "de": null}\n', r"line 1: 'de' is None, no text"),
        ("a.jsonl", '{"en": 5, "de": "b"}\n', r"line 1: 'en' is 5, no text"),
        ("a.jsonl", '{"en": "a", "de": "b"}\n{"en": "a", "de": "\\ud83d"}\n', r"line 2: 'de' is '\\ud83d', no text"),
        ("a.jsonl", '{"en": "a", "de": "b"}\n{"en": "a", "de"\n', r"line 2: not valid JSON \(Expecting ':'.*"),
        ("a.json", '[{"en": "a", "de": "b"}, {"en": "a"}]', r"record 2: no columns 'en' and 'de'.*found: 'en'\."),
        ("a.json", '[{"en": "a", "de": "b"},', r"the array: not valid JSON"),
        ("a.json", '{\n  "data": []\n}', r"line 1: not valid JSON .* or \(\.json only\) one array"),
        ("a.tsv", "en\tfr\na\tb\n", r"line 1: no columns 'en' and 'de'.*'en', 'fr'"),
        ("a.tsv", "1\ta\tb\n", r"line 1: no columns 'en' and 'de'.*'1', 'a', 'b'"),
        ("a.tsv", "a\tb\na\tb\tc\n", r"line 2: 3 columns instead of 2 \(en, de\)"),
        ("a.tsv", "a\tb\n\na\tb\n", r"line 2: 1 columns instead of 2"),
        ("a.csv", "a,b\nc,d\n", r"line 1: no columns 'en' and 'de'.*'a', 'b'"),
        ("a.csv", 'en,de\n"a\nb",c\nd\n', r"line 4: 1 columns instead of 2 \(en, de\)"),
        ("a.csv", 'en,de\na,b\n"c,d\ne,f\n', r"the row after line 2: not valid csv \(unexpected end of data\)"),
        ("a.parquet", "no table", r": not a whole Parquet file \(.*Fetch or write it again"),
    ],
)
def test_malformed_tables_are_named_with_the_place(tmp_path, name, content, message):
    with pytest.raises(ValueError, match=rf"{name}.*{message}"):
        read_files([write(tmp_path / name, content)], "en", "de")


def test_malformed_parquet_is_named_with_the_place(tmp_path):
    file = write_parquet(tmp_path / "a.parquet", languages=("en", "fr"))
    with pytest.raises(ValueError, match=r"a\.parquet, row 1: no columns 'en' and 'de'.*'en', 'fr'"):
        read_files([file], "en", "de")
    write_parquet(file, [*PAIRS, ("a", None)])
    with pytest.raises(ValueError, match=r"a\.parquet, row 4: 'de' is None, no text"):
        read_files([file], "en", "de")
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), file)
    with pytest.raises(ValueError, match=r"a\.parquet: no columns 'en' and 'de'.*'source', 'target'"):
        read_files([file], "en", "de")
    pq.write_table(pa.table({"en": [b"a"], "de": [b"b"]}), file)
    with pytest.raises(ValueError, match=r"a\.parquet, row 1: 'en' is b'a', no text"):
        read_files([file], "en", "de")


# --- Data sets of the Hub and folders ------------------------------------------------------------------------------


def numbered(count, language="Satz"):
    return [(f"sentence {number}", f"{language} {number}") for number in range(count)]


@pytest.fixture
def wmt14(tmp_path):
    """A folder laid out like wmt/wmt14: a subfolder for each pair of languages, parquet shards for each split."""
    folder = tmp_path / "wmt14"
    for language in ("de", "fr"):
        for split, sizes in {"train": (4, 3), "validation": (2,), "test": (3003,)}.items():
            rows = numbered(sum(sizes), language)
            for shard, size in enumerate(sizes):
                file = folder / f"{language}-en" / f"{split}-{shard:05d}-of-{len(sizes):05d}.parquet"
                write_parquet(file, rows[sum(sizes[:shard]) :][:size], ("en", language))
    return folder


@pytest.fixture
def wmt14_with_card(wmt14):
    """The same with the card that declares its configurations, as a snapshot of the Hub has it."""
    splits = ("train", "validation", "test")
    configs = [
        {"config_name": pair, "data_files": [{"split": split, "path": f"{pair}/{split}-*"} for split in splits]}
        for pair in ("de-en", "fr-en")
    ]
    write(wmt14 / "README.md", f"---\nconfigs: {json.dumps(configs)}\n---\n")
    return wmt14


@pytest.mark.parametrize("layout", ["wmt14", "wmt14_with_card"])
@pytest.mark.parametrize("config", ["de-en", "en-de"])
def test_a_folder_laid_out_like_the_hub_with_the_languages_in_either_order(request, layout, config):
    folder = str(request.getfixturevalue(layout))
    dataset = read_hub(folder, config, "train", "en", "de")
    assert dataset.column_names == ["translation"]
    assert pairs_of(dataset) == numbered(7, "de")
    assert pairs_of(read_hub(folder, "en-fr", "validation", "fr", "en"), "en", "fr") == numbered(2, "fr")


def test_a_folder_with_one_configuration_needs_no_name(tmp_path):
    write_parquet(tmp_path / "corpus" / "test-00000-of-00001.parquet")
    assert pairs_of(read_hub(str(tmp_path / "corpus"), None, "test", "en", "de")) == PAIRS


def test_a_hub_data_set_in_the_cache_is_read_offline_in_either_order(wmt14, cache):
    """The cache is built from a folder and then put where one from the Hub lies."""
    builder = datasets.load_dataset_builder(str(wmt14 / "de-en"))
    builder.download_and_prepare()
    target = cache / "wmt___wmt14" / "de-en" / "0.0.0" / "0123456789abcdef"
    shutil.copytree(builder.cache_dir, target)
    for split in ("train", "validation", "test"):
        (target / f"de-en-{split}.arrow").rename(target / f"wmt14-{split}.arrow")
    info = json.loads((target / "dataset_info.json").read_text())
    info |= {"config_name": "de-en", "dataset_name": "wmt14"}
    for split in info["splits"].values():
        split["dataset_name"] = "wmt14"
    write(target / "dataset_info.json", json.dumps(info))

    for config in ("de-en", "en-de"):
        assert pairs_of(read_hub("wmt/wmt14", config, "train", "en", "de")) == numbered(7, "de")
    with pytest.raises(ValueError, match=r"no configuration 'fr-en'.*\n.*\['de-en'\]"):
        read_hub("wmt/wmt14", "fr-en", "train", "en", "fr")


@pytest.mark.parametrize(
    ("lines", "level", "message"),
    [
        (3003, logging.INFO, "3003 sentences, the full newstest2014, the paper's"),
        (2737, logging.WARNING, "2737 sentences, a filtered newstest2014, not the paper's of 3003"),
        (12, logging.INFO, "12 sentences, no known version of newstest2014"),
    ],
)
def test_which_newstest2014_was_read_is_logged(tmp_path, caplog, lines, level, message):
    write_parquet(tmp_path / "my-wmt14" / "test.parquet", numbered(lines))
    with caplog.at_level(logging.INFO, logger="vaswani_mt"):
        read_hub(str(tmp_path / "my-wmt14"), None, "test", "en", "de")
    records = [record for record in caplog.records if record.name == "vaswani_mt.data.corpora"]
    assert [record.levelno for record in records] == [level]
    assert message in records[0].message


def test_other_test_sets_and_splits_are_not_taken_for_newstest2014(tmp_path, caplog):
    write_parquet(tmp_path / "corpus" / "test.parquet", numbered(2737))
    write_parquet(tmp_path / "wmt14" / "train.parquet", numbered(2737))
    with caplog.at_level(logging.INFO, logger="vaswani_mt"):
        read_hub(str(tmp_path / "corpus"), None, "test", "en", "de")
        read_hub(str(tmp_path / "wmt14"), None, "train", "en", "de")
    assert "newstest2014" not in caplog.text


def test_unknown_splits_configurations_and_languages_are_answered_with_those_there_are(wmt14_with_card):
    folder = str(wmt14_with_card)
    with pytest.raises(ValueError, match=r"Unknown split \"dev\".*'train', 'validation', 'test'"):
        read_hub(folder, "en-de", "dev", "en", "de")
    with pytest.raises(ValueError, match=r"no configuration 'cs-en'.*'de-en', 'fr-en'"):
        read_hub(folder, "cs-en", "train", "en", "cs")
    with pytest.raises(ValueError, match=r"de-en', 'fr-en'"):
        read_hub(folder, None, "train", "en", "de")
    with pytest.raises(ValueError, match=r"has no 'fr': its column 'translation' holds de, en"):
        read_hub(folder, "de-en", "train", "en", "fr")


def test_a_folder_of_several_language_pairs_needs_a_configuration(wmt14):
    with pytest.raises(ValueError, match="several language pairs, give the configuration"):
        read_hub(str(wmt14), None, "train", "en", "de")


def test_a_data_set_without_translations(tmp_path):
    folder = tmp_path / "corpus"
    write(folder / "train.jsonl", TABLES["flat.jsonl"].strip())
    with pytest.raises(ValueError, match=r"no column 'translation' but en, de.*--train_files"):
        read_hub(str(folder), None, "train", "en", "de")
    write(folder / "train.jsonl", '{"translation": "Hund"}\n')
    with pytest.raises(ValueError, match=r"has no 'en': its column 'translation' holds string"):
        read_hub(str(folder), None, "train", "en", "de")


def test_rows_without_a_text_are_counted(tmp_path):
    folder = tmp_path / "corpus"
    write_parquet(folder / "train.parquet", [*PAIRS, ("a", None), ("b", None), (None, "c")])
    with pytest.raises(ValueError, match=r"1 rows have no text for 'en'"):
        read_hub(str(folder), None, "train", "en", "de")
    assert len(read_hub(str(folder), None, "train[:3]", "en", "de")) == 3


def test_offline_without_a_cached_copy(tmp_path):
    with pytest.raises(ConnectionError, match=r"wmt/wmt14 is neither .* HF_HUB_OFFLINE .*--train_files"):
        read_hub("wmt/wmt14", "de-en", "train", "en", "de")
    with pytest.raises(FileNotFoundError, match="absent"):
        read_hub(str(tmp_path / "absent"), None, "train", "en", "de")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="doesn't contain any data files"):
        read_hub(str(tmp_path / "empty"), None, "train", "en", "de")


# --- Filters -------------------------------------------------------------------------------------------------------

LENGTHS = [(2, 3), (0, 4), (1, 1), (4, 6), (4, 7), (7, 4), (9, 9), (3, 0), (8, 8)]  # in words
KEPT = [(2, 3), (4, 6), (8, 8)]


def dataset_of(lengths):
    return Dataset.from_list(
        [{"translation": {"en": "w " * source, "de": "v\t" * target}} for source, target in lengths]
    )


def lengths_of(dataset):
    return [(len(source.split()), len(target.split())) for source, target in pairs_of(dataset)]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_pairs_are_dropped_for_the_first_reason_and_counted(num_proc, caplog):
    limits = {"min_length": 2, "max_length": 8, "max_ratio": 1.5}
    kept, counts = filter_pairs(dataset_of(LENGTHS), "en", "de", **limits, num_proc=num_proc)
    assert lengths_of(kept) == KEPT
    # 0 words: (0, 4), (3, 0); below 2: (1, 1); above 8: (9, 9); above 1.5 times: (4, 7), (7, 4), and 6/4 is not
    assert counts == {"kept": 3, "empty": 2, "too_short": 1, "too_long": 1, "ratio": 2}
    assert caplog.messages == ["Filters: kept 3, empty 2, too_short 1, too_long 1, ratio 2."]


def test_without_limits_only_pairs_with_an_empty_side_go():
    kept, counts = filter_pairs(dataset_of(LENGTHS), "en", "de")
    assert lengths_of(kept) == [pair for pair in LENGTHS if 0 not in pair]
    assert counts == {"kept": 7, "empty": 2, "too_short": 0, "too_long": 0, "ratio": 0}


def test_a_data_set_that_passes_is_returned_as_it_is():
    dataset = dataset_of(KEPT)
    kept, counts = filter_pairs(dataset, "en", "de", max_length=8)
    assert kept is dataset
    assert counts["kept"] == 3


def test_counts_of_words_are_cached(tmp_path, cache):
    dataset = read_files(write_text(tmp_path), "en", "de")
    expected = [pair for pair in PAIRS if len(pair[0].split()) == 3]
    for _ in range(2):
        assert pairs_of(filter_pairs(dataset, "en", "de", min_length=3)[0]) == expected
        assert len(list(cache.rglob("cache-*.arrow"))) == 1
    assert pairs_of(filter_pairs(dataset, "en", "de", min_length=2)[0]) == PAIRS
    assert len(list(cache.rglob("cache-*.arrow"))) == 2


@pytest.mark.parametrize(
    ("lengths", "counts"),
    [
        ([(3, 3), (9, 2)], "kept 0, empty 0, too_short 2, too_long 0, ratio 0"),
        ([], "kept 0, empty 0, too_short 0, too_long 0, ratio 0"),
    ],
)
def test_nothing_left_is_an_error_with_the_counts(lengths, counts):
    dataset = dataset_of(lengths) if lengths else dataset_of([(1, 1)]).select([])
    with pytest.raises(ValueError, match=rf"left no pair \({counts}\)"):
        filter_pairs(dataset, "en", "de", min_length=4)
