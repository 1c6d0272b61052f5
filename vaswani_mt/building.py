"""Vocabulary and model of a run, from its settings."""

import json
from pathlib import Path

from datasets import Dataset
from transformers import AutoModelForSeq2SeqLM, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from .arguments import ModelArguments
from .configuration_vaswani import VaswaniConfig
from .modeling_vaswani import VaswaniForConditionalGeneration
from .tasks import Task
from .tokenization import load_tokenizer, train_tokenizer

logger = logging.get_logger(__name__)


def build_tokenizer(
    args: ModelArguments, task: Task, train_set: Dataset, output_dir: str | Path
) -> PreTrainedTokenizerBase:
    """The vocabulary named, else the one an earlier start of this run left in `output_dir`, else a new one."""
    if args.tokenizer_name:
        return load_tokenizer(args.tokenizer_name)
    if (Path(output_dir) / "tokenizer.json").exists():
        return load_tokenizer(output_dir)
    tokenizer = train_tokenizer(
        task.texts(train_set),
        args.vocab_size,
        args.tokenizer_algorithm,
        symbols=task.symbols(train_set),
        pretokenized=args.pretokenized,
        total=2 * len(train_set),
    )
    tokenizer.init_kwargs.update(task.tokenizer_settings())  # saved with it
    tokenizer.save_pretrained(output_dir)
    return tokenizer


def build_model(args: ModelArguments, task: Task, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """The model of `args.model_config` with fresh weights, or that of `args.init_from`.

    The vocabulary decides over vocabulary size and special symbols, whatever the configuration file says.

    Raises:
        FileNotFoundError: no config.json where it should be.
        ValueError: `init_from` has another vocabulary size than the tokenizer.
    """
    if args.init_from:
        model = AutoModelForSeq2SeqLM.from_pretrained(args.init_from)
        if model.config.vocab_size != len(tokenizer):
            raise ValueError(
                f"{args.init_from} has {model.config.vocab_size} symbols and the vocabulary {len(tokenizer)}: pass "
                f"--tokenizer_name {args.init_from}."
            )
        return model
    folder = Path(args.model_config) if args.model_config else None
    if folder is None or not (folder / "config.json").is_file():
        raise FileNotFoundError(f"No config.json in {folder}: give --model_config FOLDER, or --init_from MODEL.")
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    one_matrix = settings.get("weight_tying", VaswaniConfig.weight_tying) == "all"
    vocabulary = {
        "vocab_size": len(tokenizer),
        "decoder_vocab_size": None if one_matrix else task.target_vocab_size(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": start,
    }
    model = VaswaniForConditionalGeneration(VaswaniConfig(**settings | vocabulary))
    if (folder / "generation_config.json").is_file():
        model.generation_config = GenerationConfig.from_pretrained(folder)
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        setattr(model.generation_config, name, vocabulary[name])
    return model
