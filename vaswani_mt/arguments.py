"""training.yaml plus overrides -> the arguments of a run."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml
from transformers import HfArgumentParser

from .tasks import task_class
from .trainer import VaswaniTrainingArguments


@dataclass
class ModelArguments:
    """Model and vocabulary of a run."""

    task: str = field(default="translation", metadata={"help": "What is learned: translation or parsing."})
    model_config: str | None = field(
        default=None, metadata={"help": "Folder with config.json. Default: the folder of the YAML file."}
    )
    init_from: str | None = field(default=None, metadata={"help": "Start from the weights of this model."})
    tokenizer_name: str | None = field(
        default=None, metadata={"help": "Folder or Hub id of a vocabulary. Default: train one on the training set."}
    )
    tokenizer_algorithm: str = field(default="bpe", metadata={"help": "bpe or wordpiece."})
    vocab_size: int = field(
        default=37000,
        metadata={"help": "Symbols of the vocabulary to train (section 5.1), bytes and specials counted."},
    )
    pretokenized: bool = field(
        default=False, metadata={"help": "The text is tokenised already: split at spaces only."}
    )
    max_source_length: int | None = field(
        default=256, metadata={"help": "Drop training pairs with more source tokens."}
    )
    max_target_length: int | None = field(
        default=256, metadata={"help": "Drop training pairs with more target tokens."}
    )
    prepared: str | None = field(
        default=None, metadata={"help": "Train on what `vaswani-mt prepare` left in this folder."}
    )
    streaming: bool = field(
        default=False,
        metadata={"help": "Read the training set while training, for corpora that do not fit on the disk."},
    )
    shuffle_buffer: int = field(
        default=100_000, metadata={"help": "With streaming: pairs that are shuffled and batched together."}
    )
    vocabulary_sample: int = field(
        default=1_000_000,
        metadata={"help": "With streaming and `vaswani-mt prepare`: pairs that a new vocabulary is trained on."},
    )
    preprocessing_num_proc: int | None = field(default=None, metadata={"help": "Processes for encoding."})


@dataclass
class EvaluationArguments:
    """What training/evaluate.py needs beyond the settings of the run."""

    model: str | None = field(default=None, metadata={"help": "Folder or Hub id of the model to evaluate."})
    split: str = field(default="test", metadata={"help": "train, validation or test."})
    hypotheses: str | None = field(default=None, metadata={"help": "Write the outputs here, one a line."})
    n_best: int = field(default=1, metadata={"help": "Write this many outputs a sentence, best first."})
    num_beams: int | None = field(default=None, metadata={"help": "Beam size. Default: the model's."})
    length_penalty: float | None = field(default=None, metadata={"help": "Length penalty. Default: the model's."})
    max_new_tokens: int | None = field(default=None, metadata={"help": "Longest output. Default: the model's rule."})

    def __post_init__(self):
        if self.n_best < 1 or (self.num_beams is not None and self.n_best > self.num_beams):
            raise ValueError(f"n_best={self.n_best} must be at least 1 and at most num_beams={self.num_beams}.")

    def generation(self) -> dict[str, Any]:
        """What of this goes to `generate`."""
        return {
            "num_beams": self.num_beams,
            "length_penalty": self.length_penalty,
            "max_new_tokens": self.max_new_tokens,
            "num_return_sequences": self.n_best,
        }


def parse_arguments(argv: Sequence[str], extra: Sequence[type] = ()) -> tuple[Any, ...]:
    """Read `[FILE.yaml] [--field value ...]`; the command line wins over the file.

    Args:
        argv: arguments without the program's name.
        extra: further dataclasses of arguments.

    Returns:
        The task (a `Task`), `ModelArguments`, `VaswaniTrainingArguments`, then one instance for each of `extra`.

    Raises:
        ValueError: an unknown key, in the file or on the command line; the message proposes the nearest known one.
        FileNotFoundError: no such YAML file.
    """
    argv = list(argv)
    path = Path(argv.pop(0)) if argv and not argv[0].startswith("-") else None
    settings = _read_yaml(path) if path else {}
    if path and (path.parent / "config.json").exists():
        settings.setdefault("model_config", str(path.parent))
    name = argv[argv.index("--task") + 1] if "--task" in argv[:-1] else settings.get("task", "translation")
    classes = [task_class(name), ModelArguments, VaswaniTrainingArguments, *extra]
    parser = HfArgumentParser(classes)  # type: ignore[arg-type]
    known = {f.name for cls in classes for f in fields(cls) if f.init}
    given = {argument.split("=")[0][2:] for argument in argv if argument.startswith("--")}
    for key in [*settings, *sorted(given - {"help"})]:
        if key.replace("-", "_") not in known and key.removeprefix("no_") not in known:
            near = difflib.get_close_matches(key, known, 1)
            where = f"in {path}" if key in settings else "on the command line"
            raise ValueError(f"Unknown setting {key!r} {where}." + (f" Did you mean {near[0]!r}?" if near else ""))
    parser.set_defaults(**settings)
    return parser.parse_args_into_dataclasses(argv)  # type: ignore[return-value]


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"No such file: {path}. The first argument is a training.yaml.")
    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(settings, dict):
        raise ValueError(f"{path} does not hold 'key: value' settings.")
    return settings
