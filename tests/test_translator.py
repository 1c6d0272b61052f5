"""A line out for every line in, in order, whatever the batches; and the console command."""

import gzip
import subprocess
import sys

import pytest

from vaswani_mt import cli
from vaswani_mt.translator import Translator

from .conftest import SENTENCES

LINES = [SENTENCES[0], "", SENTENCES[1], "   ", "dog", SENTENCES[0] + " " + SENTENCES[1], SENTENCES[0]]


@pytest.fixture(scope="module")
def expected(saved_model):
    translator = Translator.from_pretrained(saved_model)
    return [next(translator.translate([line], max_new_tokens=12)) for line in LINES]


@pytest.mark.parametrize(("tokens", "window"), [(1, 1), (16, 2), (40, 3), (10_000, 100)])
def test_batches_and_windows_change_nothing(saved_model, expected, tokens, window):
    translator = Translator.from_pretrained(saved_model, tokens_per_batch=tokens, window=window)
    assert list(translator.translate(LINES, max_new_tokens=12)) == expected
    assert expected[1] == expected[3] == ""
    assert expected[0] == expected[6] != ""


def test_equals_generate(saved_model, expected):
    translator = Translator.from_pretrained(saved_model)
    ids = translator.tokenizer(LINES[0], return_tensors="pt")["input_ids"]
    output = translator.model.generate(ids, max_new_tokens=12)
    assert translator.tokenizer.decode(output[0], skip_special_tokens=True) == expected[0]


def test_sentences_are_read_a_window_at_a_time(saved_model):
    read = []

    def sentences():
        for number in range(10):
            read.append(number)
            yield "dog"

    translations = Translator.from_pretrained(saved_model, window=2).translate(sentences(), max_new_tokens=2)
    next(translations)
    assert read == [0, 1]


def test_impossible_settings_are_named(saved_model):
    with pytest.raises(ValueError, match="window=0 must be at least 1"):
        Translator.from_pretrained(saved_model, window=0)


def test_command_translates_files_in_order(saved_model, expected, tmp_path, capsys):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    first.write_text("".join(f"{line}\n" for line in LINES[:3]))
    second.write_bytes(gzip.compress("".join(f"{line}\n" for line in LINES[3:]).encode()))
    argv = ["translate", "--model", str(saved_model), "--max_new_tokens", "12", "--quiet", str(first), str(second)]
    assert cli.main([*argv, "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text().split("\n") == [*expected, ""]
    assert cli.main(argv) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == expected


def test_command_reads_standard_input(saved_model, expected):
    command = [sys.executable, "-m", "vaswani_mt.cli", "translate", "--model", str(saved_model)]
    command += ["--max_new_tokens", "12"]
    run = subprocess.run(
        command, input="".join(f"{line}\n" for line in LINES), capture_output=True, text=True, check=True
    )
    assert run.stdout.split("\n")[:-1] == expected
    assert "Translating" in run.stderr


def test_command_averages_a_run(saved_model, tmp_path, capsys):
    for step in (1, 2):
        Translator.from_pretrained(saved_model).model.save_pretrained(tmp_path / "run" / f"checkpoint-{step}")
    assert cli.main(["average", str(tmp_path / "run"), "--last", "2", "--output", str(tmp_path / "mean")]) == 0
    assert "Averaged checkpoint-1, checkpoint-2" in capsys.readouterr().out
    weights = "model.safetensors"
    assert (tmp_path / "mean" / weights).read_bytes() == (saved_model / weights).read_bytes()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["translate", "--model", "MODEL", "nowhere.txt"], "No such file: nowhere.txt"),
        (["average", "a", "b", "--last", "2", "--output", "c"], "--last takes one run folder"),
        (["average", "nowhere", "--last", "2", "--output", "c"], "No checkpoint-STEP folder"),
    ],
)
def test_command_ends_with_a_line_that_says_what_is_wrong(saved_model, capsys, argv, message):
    argv = [str(saved_model) if argument == "MODEL" else argument for argument in argv]
    assert cli.main(argv) == 1
    assert message in capsys.readouterr().err


def test_command_names_the_line_that_is_not_utf8(saved_model, tmp_path, capsys):
    (tmp_path / "in.txt").write_bytes("dog\nna\xefve\n".encode("latin1"))
    assert cli.main(["translate", "--model", str(saved_model), "--quiet", str(tmp_path / "in.txt")]) == 1
    assert "in.txt, line 2" in capsys.readouterr().err


def test_nbest_lists_have_moses_form(saved_model, capsys, tmp_path):
    (tmp_path / "in.txt").write_text(f"{SENTENCES[0]}\n\n")
    argv = ["translate", "--model", str(saved_model), str(tmp_path / "in.txt"), "--quiet", "--max_new_tokens", "12"]
    assert cli.main([*argv, "--num_beams", "3", "--nbest", "2"]) == 0
    fields = [line.split(" ||| ") for line in capsys.readouterr().out.split("\n")[:-1]]
    assert [field[0] for field in fields] == ["0", "0", "1", "1"]
    assert float(fields[0][2]) >= float(fields[1][2])
    assert fields[2][1:] == ["", ""]
    assert cli.main([*argv, "--num_beams", "3"]) == 0
    assert capsys.readouterr().out.split("\n")[0] == fields[0][1]


def test_details_of_a_translation(saved_model):
    translator = Translator.from_pretrained(saved_model)
    settings = {"num_beams": 3, "max_new_tokens": 12, "return_score": True, "return_attention": True}
    details = list(translator.translate_in_detail(LINES, return_tensors=True, return_text=True, **settings))
    source = translator.tokenizer(LINES[0])["input_ids"]
    record = details[0][0]
    length = len(record["translation_token_ids"]) - 1
    assert record["translation_attention"].shape[1:] == (length, len(source))
    assert record["translation_attention"].sum(-1) == pytest.approx(1.0, abs=1e-5)
    assert details[1][0]["translation_score"] is None
    assert [records[0]["translation_text"] for records in details] == list(
        translator.translate(LINES, num_beams=3, max_new_tokens=12)
    )


def test_ensembles(saved_model, expected, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    argv = ["translate", "--quiet", "--max_new_tokens", "12", "--model", str(saved_model), str(saved_model)]
    assert cli.main([*argv, str(tmp_path / "in.txt")]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == expected


def test_an_ensemble_needs_one_vocabulary(saved_model, tmp_path):
    other = tmp_path / "other"
    translator = Translator.from_pretrained(saved_model)
    translator.tokenizer.add_tokens(["<new>"])
    translator.model.save_pretrained(other)
    translator.tokenizer.save_pretrained(other)
    with pytest.raises(ValueError, match=r"The vocabulary of .*other is not that of"):
        Translator.from_pretrained(saved_model, other)
