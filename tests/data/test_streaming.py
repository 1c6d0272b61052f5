"""Streams: every pair once an epoch, the same batches on any number of processes, resumable anywhere."""

import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from vaswani_mt.data.batching import PairCollator
from vaswani_mt.data.streaming import PairStream, StreamLoader
from vaswani_mt.tasks.translation import TranslationTask

SHARDS, IN_A_SHARD = 5, 40


@pytest.fixture
def corpus(tmp_path):
    """Five shards of 40 pairs: parquet and jsonl; pair n has n % 7 + 1 source and n % 5 + 1 target words, all 'n'."""
    files = []
    for shard in range(SHARDS):
        numbers = range(shard * IN_A_SHARD, (shard + 1) * IN_A_SHARD)
        rows = [{"en": " ".join([f"{n}"] * (n % 7 + 1)), "de": " ".join([f"{n}"] * (n % 5 + 1))} for n in numbers]
        if shard % 2:
            file = tmp_path / f"{shard}.jsonl"
            file.write_text("".join(f"{json.dumps({'translation': row})}\n" for row in rows))
        else:
            file = tmp_path / f"{shard}.parquet"
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows), file)
        files.append(str(file))
    return TranslationTask(train_files=files)


def words(examples):
    """Encodes a text of numbers as these, plus 10, and an end."""
    texts = {side: [pair[side] for pair in examples["translation"]] for side in ("en", "de")}
    ids = {side: [[10 + int(word) for word in text.split()] + [2] for text in texts[side]] for side in texts}
    return {"input_ids": ids["en"], "labels": ids["de"]}


def loader(task, buffer_size=60, rank=0, num_processes=1, micro_batches=3, background=False, **limits):
    stream = PairStream(task.stream(), words, buffer_size=buffer_size, **limits)
    return StreamLoader(
        stream,
        PairCollator(0),
        120,
        background=background,
        seed=3,
        rank=rank,
        num_processes=num_processes,
        micro_batches=micro_batches,
    )


def pairs_in(batch):
    """Numbers of the pairs of a batch, from their first source word."""
    return [int(first) - 10 for first in batch["input_ids"][:, 0] if first > 0]


def epochs(stream_loader, number):
    """The pairs of the first so many epochs, in order."""
    found = [[] for _ in range(number)]
    for batch in stream_loader:
        if stream_loader.epoch == number:
            return found
        found[stream_loader.epoch] += pairs_in(batch)


@pytest.mark.parametrize("buffer_size", [1, 60, 10_000])
def test_every_pair_comes_once_in_every_epoch_in_a_new_order(corpus, buffer_size, monkeypatch):
    monkeypatch.setattr("vaswani_mt.data.streaming.CHUNK", 7)
    first, second = epochs(loader(corpus, buffer_size), 2)
    assert sorted(first) == sorted(second) == list(range(SHARDS * IN_A_SHARD))
    assert first != second
    assert first != sorted(first)


def test_no_batch_exceeds_its_part_of_the_budget(corpus):
    for batch in itertools.islice(loader(corpus), 60):
        assert batch["input_ids"].numel() <= 40
        assert batch["labels"].numel() <= 40


@pytest.mark.parametrize("num_processes", [2, 3])
def test_any_number_of_processes_takes_the_same_global_batches(corpus, num_processes):
    wanted = [pairs_in(batch) for batch in itertools.islice(loader(corpus), 45)]
    parts = -(-3 // num_processes)
    shares = [
        [
            pairs_in(batch)
            for batch in itertools.islice(loader(corpus, rank=rank, num_processes=num_processes), 15 * parts)
        ]
        for rank in range(num_processes)
    ]
    for step in range(15):
        dealt = [share[step * parts + part] for share in shares for part in range(parts)]
        assert sorted(part for part in dealt if part) == sorted(
            part for part in wanted[3 * step : 3 * step + 3] if part
        )


@pytest.mark.parametrize("steps", [1, 4, 9, 17])
def test_a_resumed_stream_goes_on_exactly_there(corpus, steps, monkeypatch):
    monkeypatch.setattr("vaswani_mt.data.streaming.CHUNK", 7)
    whole = loader(corpus)
    batches = iter(whole)
    for _ in range(3 * steps):
        next(batches)
    state = json.loads(json.dumps(whole.state_dict()))
    wanted = [next(batches) for _ in range(40)]
    resumed = loader(corpus)
    resumed.load_state_dict(state)
    for expected, found in zip(wanted, resumed, strict=False):
        assert found["input_ids"].tolist() == expected["input_ids"].tolist()
        assert found["labels"].tolist() == expected["labels"].tolist()
    assert resumed.state_dict() == whole.state_dict()


def test_reading_in_the_background_changes_nothing(corpus):
    here, there = (itertools.islice(loader(corpus, background=background), 30) for background in (False, True))
    for expected, found in zip(here, there, strict=True):
        assert found["input_ids"].tolist() == expected["input_ids"].tolist()


def test_long_pairs_are_dropped_and_counted(corpus, caplog):
    (first,) = epochs(loader(corpus, max_source_length=7, max_target_length=None), 1)
    wanted = [n for n in range(SHARDS * IN_A_SHARD) if n % 7 + 2 <= 7]
    assert sorted(first) == wanted
    assert f"200 pairs, of them {200 - len(wanted)} dropped as longer than max_source_length=7" in caplog.text


def test_filters_of_words_apply(corpus):
    corpus.max_words, corpus.min_words = 4, 2
    (first,) = epochs(loader(corpus), 1)
    assert sorted(first) == [n for n in range(200) if min(n % 7, n % 5) + 1 >= 2 and max(n % 7, n % 5) + 1 <= 4]


def test_rows_tell_where_the_pairs_are(corpus):
    stream_loader = loader(corpus, micro_batches=1)
    order = np.random.default_rng((3, 0)).permutation(SHARDS)
    for batch in itertools.islice(stream_loader, 10):
        name, (rows,) = stream_loader.describe(0)
        assert [order[row // IN_A_SHARD] * IN_A_SHARD + row % IN_A_SHARD for row in rows] == pairs_in(batch)
    assert name.endswith("epoch 1")


def test_what_cannot_be_streamed_is_said(corpus):
    with pytest.raises(ValueError, match=r"200 were read, all longer than max_source_length=1"):
        next(iter(loader(corpus, max_source_length=1)))
    with pytest.raises(ValueError, match="A shuffle buffer of 0 pairs"):
        loader(corpus, buffer_size=0)
    with pytest.raises(ValueError, match="Nothing to stream"):
        TranslationTask(dataset_name="grammar").stream()
    with pytest.raises(ValueError, match="max_train_samples is not for streaming"):
        TranslationTask(train_files=corpus.train_files, max_train_samples=5).stream()
    with pytest.raises(FileNotFoundError, match="No such file"):
        TranslationTask(train_files=["nowhere.jsonl"]).stream()


def test_a_folder_laid_out_like_a_hub_data_set_is_streamed(tmp_path):
    (tmp_path / "de-en").mkdir()
    rows = [{"translation": {"en": f"{n}", "de": f"{n} {n}"}} for n in range(30)]
    for shard in range(3):
        table = pa.Table.from_pylist(rows[shard::3])
        pyarrow.parquet.write_table(table, tmp_path / "de-en" / f"train-0000{shard}-of-00003.parquet")
    task = TranslationTask(dataset_name=str(tmp_path), dataset_config="en-de")
    (first,) = epochs(loader(task), 1)
    assert sorted(first) == list(range(30))
    stream = task.stream()
    assert stream.num_shards == 3
