"""YAML plus overrides; unknown keys are errors."""

import pytest

from vaswani_mt.arguments import EvaluationArguments, parse_arguments


@pytest.fixture
def yaml(tmp_path):
    path = tmp_path / "training.yaml"
    text = "source_lang: en\ntarget_lang: fr\nwarmup_steps: 7\nadam_epsilon: 1e-9\ntrain_files: [a.en, a.fr]\n"
    path.write_text(text)
    (tmp_path / "config.json").write_text("{}")
    return path


def test_the_command_line_wins_over_the_file(yaml, tmp_path):
    task, model, training = parse_arguments([str(yaml), "--warmup_steps", "9", "--output_dir", str(tmp_path)])
    assert (task.source_lang, task.target_lang, task.train_files) == ("en", "fr", ["a.en", "a.fr"])
    assert (training.warmup_steps, training.adam_epsilon) == (9, 1e-9)
    assert model.model_config == str(tmp_path)


def test_lists_and_switches_on_the_command_line(yaml):
    argv = [str(yaml), "--train_files", "b.en", "b.fr", "--use_cpu", "true", "--model", "m", "--n_best", "2"]
    task, _, training, evaluation = parse_arguments([*argv, "--num_beams", "4"], extra=[EvaluationArguments])
    assert task.train_files == ["b.en", "b.fr"]
    assert training.use_cpu is True
    assert evaluation.generation()["num_return_sequences"] == 2


@pytest.mark.parametrize(
    ("text", "argv", "message"),
    [
        ("warmup_step: 7\n", [], "Unknown setting 'warmup_step' in .*Did you mean 'warmup_steps'"),
        ("seed: 7\n", ["--warmup_step", "3"], "'warmup_step' on the command line"),
        ("task: poetry\n", [], "Unknown task 'poetry'"),
        ("- a\n- b\n", [], "does not hold 'key: value' settings"),
    ],
)
def test_what_is_not_known_is_named(yaml, text, argv, message):
    yaml.write_text(text)
    with pytest.raises(ValueError, match=message):
        parse_arguments([str(yaml), *argv])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file: .*nowhere.yaml"):
        parse_arguments([str(tmp_path / "nowhere.yaml")])


def test_more_best_outputs_than_beams_are_refused():
    with pytest.raises(ValueError, match="n_best=5"):
        EvaluationArguments(n_best=5, num_beams=4)
