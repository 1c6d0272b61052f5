"""Vocabulary, data and model of a run, from its settings."""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, IterableDataset
from transformers import AutoModelForSeq2SeqLM, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from .arguments import ModelArguments
from .configuration_vaswani import VaswaniConfig
from .data.encoding import drop_long, encode
from .data.preparation import TOKENIZER, Preparation, prepared_pairs
from .data.streaming import PairStream
from .modeling_vaswani import VaswaniForConditionalGeneration
from .tasks import Task
from .tokenization import load_tokenizer, train_tokenizer

logger = logging.get_logger(__name__)


def build_tokenizer(
    args: ModelArguments, task: Task, train_set: Dataset | IterableDataset, output_dir: str | Path
) -> PreTrainedTokenizerBase:
    """The vocabulary named, else the one an earlier start of this run left in `output_dir`, else a new one.

    That is trained on all of `train_set`, or on the first `args.vocabulary_sample` examples of a stream.
    """
    if args.tokenizer_name:
        return load_tokenizer(args.tokenizer_name)
    if (Path(output_dir) / "tokenizer.json").exists():
        return load_tokenizer(output_dir)
    if isinstance(train_set, IterableDataset):
        train_set, total = train_set.take(args.vocabulary_sample), None
    else:
        total = 2 * len(train_set)
    tokenizer = train_tokenizer(
        task.texts(train_set),
        args.vocab_size,
        args.tokenizer_algorithm,
        symbols=task.symbols(train_set),
        pretokenized=args.pretokenized,
        total=total,
    )
    tokenizer.init_kwargs.update(task.tokenizer_settings())  # saved with it
    tokenizer.save_pretrained(output_dir)
    return tokenizer


def build_data(
    args: ModelArguments, task: Task, output_dir: str | Path
) -> tuple[PreTrainedTokenizerBase, Any, dict[str, Dataset]]:
    """The vocabulary, the encoded training set, and the encoded validation and test sets that there are.

    The training set is a `Dataset`, or with `args.streaming` a `PairStream`; it has no pairs that are too long.

    Raises:
        ValueError: no training set, or one that is to be streamed and prepared at once.
    """
    train_set: Any
    if args.prepared and args.streaming:
        raise ValueError("--prepared and --streaming are two ways to the same training set: choose one.")
    if args.prepared:
        train_set, tokenizer = prepared_pairs(args.prepared), load_tokenizer(Path(args.prepared) / TOKENIZER)
        corpora = task.load(("validation", "test"))
        tokenizer.save_pretrained(output_dir)
    elif args.streaming:
        stream = task.stream()
        tokenizer = build_tokenizer(args, task, stream, output_dir)
        train_set = PairStream(
            stream,
            functools.partial(task.encode, tokenizer=tokenizer),
            max_source_length=args.max_source_length,
            max_target_length=args.max_target_length,
            buffer_size=args.shuffle_buffer,
        )
        corpora = task.load(("validation", "test"))
    else:
        corpora = task.load()
        if "train" not in corpora:
            raise ValueError("No training set: give train_files, or a dataset_name with a train_split.")
        tokenizer = build_tokenizer(args, task, corpora["train"], output_dir)
        train_set = encode(corpora.pop("train"), task, tokenizer, num_proc=args.preprocessing_num_proc)
        train_set = drop_long(train_set, args.max_source_length, args.max_target_length)
    held_out = {
        name: encode(dataset, task, tokenizer, num_proc=args.preprocessing_num_proc)
        for name, dataset in corpora.items()
    }
    return tokenizer, train_set, held_out


def prepare_data(args: ModelArguments, task: Task, folder: str | Path, shard_size: int) -> dict[str, int]:
    """Encode the training set into `folder` for `build_data`; what an earlier start left there is not done again.

    Returns:
        numbers of pairs and tokens; see `Preparation.encode`.

    Raises:
        ValueError: a task that needs more than source and target ids, or as `Preparation`.
    """
    names = ["tokenizer_name", "tokenizer_algorithm", "vocab_size", "pretokenized", "vocabulary_sample"]
    names += ["max_source_length", "max_target_length"]
    settings = {name: getattr(args, name) for name in names} | {"shard_size": shard_size}
    if task.batch_columns:
        raise ValueError(
            f"Prepared data has no columns {', '.join(task.batch_columns)}, which this task needs: it is for corpora "
            "of sentence pairs. Train on the corpus itself; it is encoded once and cached."
        )
    preparation = Preparation(folder, task, settings)
    corpus = task.load(["train"])["train"]
    if preparation.tokenizer_folder.exists():
        tokenizer = load_tokenizer(preparation.tokenizer_folder)
    else:
        sample = corpus
        if len(corpus) > args.vocabulary_sample:
            rows = np.random.default_rng(0).choice(len(corpus), args.vocabulary_sample, replace=False)
            sample = corpus.select(np.sort(rows))
        with preparation.tokenizer_part() as part:
            tokenizer = build_tokenizer(args, task, sample, part)
            tokenizer.save_pretrained(part)
    return preparation.encode(corpus, tokenizer, args.preprocessing_num_proc or 1)


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
