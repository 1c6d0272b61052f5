"""The scripts as a user runs them: real processes, from training to translation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml
from transformers import AutoModelForSeq2SeqLM, pipeline

import vaswani_mt  # noqa: F401
from vaswani_mt.data.grammar import splits

ROOT = Path(__file__).parents[2]
TWO_PROCESSES = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"]
TWO_PROCESSES += ["--mixed_precision", "no", "--dynamo_backend", "no"]
SMALL = {
    "model_type": "vaswani",
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}


def run(arguments, cwd, status=0):
    """A Python process with the given arguments; returns its output, standard error included."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(cwd / "home")}
    process = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    output = process.stdout + process.stderr
    assert process.returncode == status, output[-4000:]
    return output


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with parallel files of the embedded grammar and a small setting to train with."""
    folder = tmp_path_factory.mktemp("work")
    for name, examples in splits({"train": 400, "val": 20, "test": 5}).items():
        for language in ("en", "de"):
            lines = [getattr(example, language) for example in examples]
            (folder / f"{name}.{language}").write_text("".join(f"{line}\n" for line in lines))
    (folder / "config.json").write_text(json.dumps(SMALL))
    (folder / "generation_config.json").write_text(json.dumps({"num_beams": 3, "max_len_b": 10}))
    settings = {
        "train_files": ["train.en", "train.de"],
        "validation_files": ["val.en", "val.de"],
        "test_files": ["test.en", "test.de"],
        "vocab_size": 500,
        "tokens_per_batch": 1000,
        "max_steps": 12,
        "learning_rate": 0.01,
        "warmup_steps": 5,
        "save_strategy": "steps",
        "save_steps": 4,
        "save_total_limit": 3,
        "average_checkpoints": 2,
        "eval_strategy": "steps",
        "eval_steps": 6,
        "logging_steps": 2,
        "use_cpu": True,
    }
    (folder / "training.yaml").write_text(yaml.safe_dump(settings))
    return folder


@pytest.fixture(scope="module")
def trained(work):
    """The folder of a finished run."""
    run([ROOT / "training" / "train.py", "training.yaml", "--output_dir", "run"], work)
    return work / "run"


@pytest.fixture(scope="module")
def evaluated(work, trained):
    """Scores and hypotheses of evaluate.py on one process."""
    output = run(
        [ROOT / "training" / "evaluate.py", "training.yaml", "--model", trained, "--hypotheses", "one.de"], work
    )
    return scores(output), (work / "one.de").read_text().split("\n")[:-1]


def scores(output):
    """The JSON object that evaluate.py prints."""
    return json.loads(output[output.index("{\n") : output.index("\n}") + 2])


def test_the_final_folder_holds_what_a_model_needs(trained):
    files = {path.name for path in trained.iterdir()}
    assert {"config.json", "model.safetensors", "generation_config.json", "tokenizer.json", "README.md"} <= files
    assert {"checkpoint-8", "checkpoint-12", "validation_results.json", "test_results.json"} <= files
    assert not any(path.suffix == ".bin" for path in trained.iterdir())
    assert json.loads((trained / "generation_config.json").read_text())["max_len_b"] == 10
    assert any((trained / "runs").rglob("events.out.tfevents.*"))


def test_the_model_is_the_mean_of_the_last_checkpoints(trained):
    states = [
        AutoModelForSeq2SeqLM.from_pretrained(trained / name).state_dict()
        for name in ("checkpoint-8", "checkpoint-12", ".")
    ]
    for name, value in states[2].items():
        assert (value - (states[0][name] + states[1][name]) / 2).abs().max() < 1e-6


def test_the_card_has_scores_and_command_and_no_path_of_this_machine(trained):
    card = (trained / "README.md").read_text()
    assert "pipeline_tag: translation" in card
    assert "training/train.py training.yaml --output_dir run" in card
    assert "BLEU" in card or "bleu" in card
    assert str(trained.parent) not in card


def test_the_log_has_what_one_watches(trained):
    history = json.loads((trained / "checkpoint-12" / "trainer_state.json").read_text())["log_history"]
    assert {"loss", "learning_rate", "grad_norm", "source_tokens_per_second", "mfu"} <= set(history[0])
    evaluation = next(entry for entry in history if "eval_bleu" in entry)
    assert {"eval_loss", "eval_perplexity", "eval_chrf"} <= set(evaluation)


def test_training_learns(trained):
    history = json.loads((trained / "checkpoint-12" / "trainer_state.json").read_text())["log_history"]
    losses = [entry["loss"] for entry in history if "loss" in entry]
    assert losses[-1] < losses[0] - 0.5


def test_a_run_is_not_overwritten_and_resumes_where_it_was(work, trained):
    again = [ROOT / "training" / "train.py", "training.yaml", "--output_dir", "run"]
    assert "add --resume true" in run(again, work, status=1)
    run([*again[:-1], "straight", "--max_steps", "8", "--average_checkpoints", "1"], work)
    run([*again[:-1], "halves", "--max_steps", "4", "--average_checkpoints", "1"], work)
    run([*again[:-1], "halves", "--max_steps", "8", "--average_checkpoints", "1", "--resume", "true"], work)
    weights = [(work / name / "model.safetensors").read_bytes() for name in ("straight", "halves")]
    assert weights[0] == weights[1]


def test_pipeline_command_and_script_give_the_same_text(work, trained, evaluated):
    lines = (work / "test.en").read_text().split("\n")[:-1]
    translator = pipeline("translation", model=str(trained))
    assert [output["translation_text"] for output in translator(lines, batch_size=3)] == evaluated[1]
    output = run(
        ["-m", "vaswani_mt.cli", "translate", "--model", trained, "--quiet", "test.en", "--output", "cli"], work
    )
    assert "Traceback" not in output
    assert (work / "cli").read_text().split("\n")[:-1] == evaluated[1]


def test_two_processes_score_every_sentence_once_and_in_order(work, trained, evaluated):
    output = run(
        [
            *TWO_PROCESSES,
            *(ROOT / "training" / "evaluate.py", "training.yaml", "--model", trained, "--hypotheses", "two.de"),
            *("--eval_tokens_per_batch", "40"),
        ],
        work,
    )
    found, wanted = scores(output), evaluated[0]
    assert (work / "two.de").read_text().split("\n")[:-1] == evaluated[1]
    assert len(evaluated[1]) == 5
    assert found["test_bleu"] == wanted["test_bleu"]
    assert found["test_loss"] == pytest.approx(wanted["test_loss"], abs=1e-5)


def test_two_processes_train_like_one(work):
    command = [ROOT / "training" / "train.py", "training.yaml", "--max_steps", "4", "--average_checkpoints", "1"]
    (work / "no-dropout").mkdir()
    (work / "no-dropout" / "config.json").write_text(json.dumps(SMALL | {"dropout": 0.0}))
    command += ["--model_config", "no-dropout", "--eval_strategy", "no", "--logging_steps", "1"]
    run([*command, "--output_dir", "one"], work)
    output = run([*TWO_PROCESSES, *command, "--output_dir", "two"], work)
    assert "over 2 process(es)" in output
    logs = [json.loads((work / name / "trainer_state.json").read_text())["log_history"][:4] for name in ("one", "two")]
    for one, two in zip(*logs, strict=True):
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
        # Tokens of all processes together.
        tokens = [entry["target_tokens_per_second"] * entry["seconds_per_step"] for entry in (one, two)]
        assert tokens[0] == pytest.approx(tokens[1], rel=3e-3)


def test_n_best_writes_so_many_lines_a_sentence(work, trained):
    run(
        [
            *(ROOT / "training" / "evaluate.py", "training.yaml", "--model", trained),
            *("--hypotheses", "best.de", "--n_best", "3"),
        ],
        work,
    )
    assert len((work / "best.de").read_text().split("\n")[:-1]) == 15


def wmt14_folder(folder, language, examples):
    """Parquet files in the schema and layout of wmt/wmt14 on the Hub."""
    struct = pa.struct([(name, pa.string()) for name in sorted(("en", language))])
    (folder / f"{language}-en").mkdir(parents=True)
    for split in ("train", "validation", "test"):
        rows = [{"en": example.en, language: getattr(example, language)} for example in examples[split]]
        table = pa.table({"translation": pa.array(rows, type=struct)})
        pyarrow.parquet.write_table(table, folder / f"{language}-en" / f"{split}-00000-of-00001.parquet")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("name", ["wmt14-en-de-base", "wmt14-en-de-big"])
def test_wmt14_settings_train_on_data_in_its_schema(tmp_path, name, processes):
    data = wmt14_folder(tmp_path / "wmt14", "de", splits({"train": 600, "validation": 8, "test": 8}))
    output = run(
        [
            *(TWO_PROCESSES if processes == 2 else []),
            *(ROOT / "training" / "train.py", ROOT / "hub_configs" / name / "training.yaml"),
            *("--dataset_name", data, "--output_dir", "run", "--use_cpu", "true", "--max_steps", "20"),
            *("--tokens_per_batch", "200", "--max_tokens_per_device", "100", "--save_strategy", "no"),
            *("--eval_strategy", "no", "--logging_steps", "5"),
        ],
        tmp_path,
    )
    assert f"over {processes} process(es)" in output
    state = json.loads((tmp_path / "run" / "trainer_state.json").read_text())
    assert state["global_step"] == 20
