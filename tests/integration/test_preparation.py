"""`vaswani-mt prepare` as a user runs it, killed half-way, and training on what it leaves."""

import json
import os
import signal
import time

import pytest

from vaswani_mt.cli import main
from vaswani_mt.data.preparation import prepared_pairs

from .processes import CONTEXT, finish, training, write_work_folder


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return write_work_folder(tmp_path_factory.mktemp("work"))


@pytest.fixture
def here(work, monkeypatch):
    monkeypatch.chdir(work)
    monkeypatch.setenv("HF_HOME", str(work / "home"))
    return work


def prepare(*arguments):
    return main(["prepare", "training.yaml", *arguments])


def files(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "train").glob("*.arrow"))}


def test_shards_hold_the_encoded_corpus_in_order(here, capsys):
    assert prepare("--output_dir", "prepared", "--shard_size", "70") == 0
    assert "pairs 300, dropped 0, source_tokens " in capsys.readouterr().out
    assert list(files(here / "prepared")) == [f"data-{n:05d}-of-00005.arrow" for n in range(5)]
    pairs = prepared_pairs("prepared")
    assert pairs.column_names == ["input_ids", "labels", "source_length", "target_length"]
    from vaswani_mt.tokenization import load_tokenizer

    tokenizer = load_tokenizer("prepared/tokenizer")
    lines = {side: (here / f"train.{side}").read_text().splitlines() for side in ("en", "de")}
    assert tokenizer.batch_decode(pairs["input_ids"][:], skip_special_tokens=True) == lines["en"]
    assert tokenizer.batch_decode(pairs["labels"][:], skip_special_tokens=True) == lines["de"]
    assert pairs["source_length"][:] == [len(ids) for ids in pairs["input_ids"]]


def test_killed_half_way_it_goes_on_and_ends_the_same(here, capsys):
    for side in ("en", "de"):  # long enough to be killed in the middle
        lines = (here / f"train.{side}").read_text()
        (here / f"long.{side}").write_text(lines * 25)
    long = ["--train_files", "long.en", "long.de", "--shard_size", "500", "--max_source_length", "12"]
    long += ["--preprocessing_num_proc", "2"]
    assert prepare("--output_dir", "whole", *long) == 0
    whole = capsys.readouterr().out
    child = CONTEXT.Process(target=_prepare_in, args=(here, ["--output_dir", "halves", *long]))
    child.start()
    end = time.monotonic() + 100
    while len(files_there := list((here / "halves").glob("train/*.arrow"))) < 5:
        assert time.monotonic() < end
        assert child.is_alive()
        time.sleep(0.002)
    os.killpg(child.pid, signal.SIGKILL)
    child.join()
    done = {path: path.stat().st_mtime_ns for path in files_there}
    assert len(done) < 15
    with pytest.raises(ValueError, match="halves is not prepared to the end: run the same vaswani-mt prepare again"):
        prepared_pairs("halves")
    assert prepare("--output_dir", "halves", *long) == 0
    assert capsys.readouterr().out == whole.replace("whole", "halves")
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert files(here / "halves") == files(here / "whole")
    dropped = int(whole.split("dropped ")[1].split(",")[0])
    assert 0 < dropped < 7500
    assert len(prepared_pairs("halves")) == 7500 - dropped


def _prepare_in(folder, arguments):
    """The child, with its own processes in a group of their own."""
    os.setpgid(0, 0)
    os.chdir(folder)
    os.environ["HF_HOME"] = str(folder / "home")
    prepare(*arguments)


def test_training_on_prepared_data_is_training_on_the_corpus(here):
    prepare("--output_dir", "data", "--shard_size", "70")
    few = ("--max_steps", "6", "--save_strategy", "no")
    for name, arguments in (("direct", ()), ("from-data", ("--prepared", "data"))):
        with training(here, "--output_dir", name, *few, *arguments) as children:
            finish(children, here)
    assert (here / "direct" / "order-0").read_text() == (here / "from-data" / "order-0").read_text()
    assert (here / "direct" / "model.safetensors").read_bytes() == (
        here / "from-data" / "model.safetensors"
    ).read_bytes()


def test_what_is_wrong_is_said(here, capsys):
    assert prepare("--output_dir", "kept", "--shard_size", "300") == 0
    assert prepare("--output_dir", "kept", "--shard_size", "300", "--max_source_length", "9") == 1
    assert "kept was prepared with other settings (max_source_length)" in capsys.readouterr().err
    assert prepare("--output_dir", "short", "--max_source_length", "1") == 1
    assert "All 300 pairs are longer than max_source_length=1" in capsys.readouterr().err
    assert prepare("--output_dir", "none", "--shard_size", "0") == 1
    assert "shard_size=0 must be at least 1" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError, match="nowhere holds no prepared data"):
        prepared_pairs("nowhere")
    with training(here, "--output_dir", "both", "--prepared", "kept", "--streaming", "true") as children:
        text = finish(children, here, status=1)
    assert "--prepared and --streaming are two ways" in text
    assert json.loads((here / "kept" / "prepared.json").read_text())["counts"]["pairs"] == 300
