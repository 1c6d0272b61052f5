"""The console command `vaswani-mt`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; errors of the user's making end in one line on standard error and status 1."""
    parser = argparse.ArgumentParser(prog="vaswani-mt", description="The Transformer of 'Attention Is All You Need'.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_translate(commands)
    _add_average(commands)
    _add_prepare(commands)
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except BrokenPipeError:  # the reader of our output (head, say) has enough
        sys.stderr.close()
    except (ValueError, OSError) as error:
        print(f"vaswani-mt: {error}", file=sys.stderr)
        return 1
    return 0


def _add_translate(commands) -> None:
    parser = commands.add_parser("translate", help="translate files or standard input, line by line")
    parser.add_argument("files", nargs="*", type=Path, help="text files (.gz too); none or -: standard input")
    parser.add_argument(
        "--model",
        required=True,
        nargs="+",
        action="extend",
        help="folder or Hub id; more folders after it, or --model again, make an ensemble",
    )
    parser.add_argument("--output", type=Path, help="write here instead of to standard output")
    parser.add_argument("--nbest", type=int, help="write so many translations a line, as 'line ||| text ||| score'")
    parser.add_argument("--tokens_per_batch", type=int, default=2048, help="source tokens of a batch (default 2048)")
    parser.add_argument("--window", type=int, default=1000, help="lines sorted by length together (default 1000)")
    parser.add_argument("--num_beams", type=int, help="default: the model's")
    parser.add_argument("--length_penalty", type=float, help="default: the model's")
    parser.add_argument("--max_new_tokens", type=int, help="default: the model's rule, source length + 50")
    parser.add_argument("--device", help="cpu, cuda, cuda:1, ... (default: cuda if there is one)")
    parser.add_argument("--dtype", default="auto", help="float32, bfloat16, ... (default: as saved)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=_translate)


def _translate(arguments: argparse.Namespace) -> None:
    from transformers.utils.logging import disable_progress_bar

    import vaswani_mt.modeling_vaswani  # noqa: F401  (known to the Auto classes from here on)

    from .translator import Translator

    # `--model DIR FILE`: what comes after the first model and is no folder is text to translate.
    first, *others = arguments.model
    models = [first, *(name for name in others if Path(name).is_dir())]
    files = [Path(name) for name in others if not Path(name).is_dir()] + arguments.files
    for file in files:
        if str(file) != "-" and not file.is_file():
            raise FileNotFoundError(f"No such file: {file}.")
    if arguments.quiet:
        disable_progress_bar()
    # A person who types wants each answer at once.
    typing = not files and sys.stdin.isatty()
    translator = Translator.from_pretrained(
        *models,
        device=arguments.device,
        dtype=arguments.dtype,
        tokens_per_batch=arguments.tokens_per_batch,
        window=1 if typing else arguments.window,
    )
    names = ("num_beams", "length_penalty", "max_new_tokens")
    settings = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    shown = {"progress": not arguments.quiet and not typing}
    lines: Iterator[str]
    if arguments.nbest is None:
        lines = translator.translate(_input_lines(files), **shown, **settings)
    else:
        settings |= {"num_return_sequences": arguments.nbest, "return_score": True}
        lines = _nbest(translator.translate_in_detail(_input_lines(files), **shown, **settings))
    output = arguments.output.open("w", encoding="utf-8", newline="\n") if arguments.output else sys.stdout
    try:
        for line in lines:
            print(line, file=output, flush=True)
    finally:
        if arguments.output:
            output.close()


def _nbest(translations: Iterator[list[dict]]) -> Iterator[str]:
    """Moses' format of n-best lists; a blank line has no score."""
    for number, records in enumerate(translations):
        for record in records:
            score = record["translation_score"]
            yield f"{number} ||| {record['translation_text']} ||| {'' if score is None else f'{score:.6f}'}"


def _input_lines(files: list[Path]) -> Iterator[str]:
    from .data.corpora import decoded_lines, file_lines

    for file in files or [Path("-")]:
        yield from decoded_lines(sys.stdin.buffer, "standard input") if str(file) == "-" else file_lines(file)


def _add_average(commands) -> None:
    parser = commands.add_parser("average", help="average checkpoints of one run (section 6.1 of the paper)")
    parser.add_argument("checkpoints", nargs="+", help="model folders; or, with --last, the folder of a run")
    parser.add_argument("--last", type=int, help="take the last so many checkpoint-STEP folders of the run")
    parser.add_argument("--output", type=Path, required=True, help="folder for the averaged model")
    parser.set_defaults(run=_average)


def _average(arguments: argparse.Namespace) -> None:
    import vaswani_mt.modeling_vaswani  # noqa: F401  (known to the Auto classes from here on)

    from .averaging import average_checkpoints, last_checkpoints
    from .tokenization import load_tokenizer

    paths = [Path(path) for path in arguments.checkpoints]
    if arguments.last is not None:
        if len(paths) != 1:
            raise ValueError(f"--last takes one run folder, not {len(paths)}.")
        paths = last_checkpoints(paths[0], arguments.last)
    average_checkpoints(paths).save_pretrained(arguments.output)
    if (paths[-1] / "tokenizer.json").exists():
        load_tokenizer(paths[-1]).save_pretrained(arguments.output)
    print(f"Averaged {', '.join(path.name for path in paths)} into {arguments.output}.")


def _add_prepare(commands) -> None:
    parser = commands.add_parser(
        "prepare", help="encode a large training corpus once, resumable, for training/train.py --prepared FOLDER"
    )
    parser.add_argument("settings", nargs=argparse.REMAINDER, help="training.yaml --output_dir FOLDER [--field value]")
    parser.set_defaults(run=_prepare)


def _prepare(arguments: argparse.Namespace) -> None:
    from .arguments import parse_arguments
    from .building import prepare_data
    from .data.preparation import PreparationArguments

    task, model_args, args, preparation = parse_arguments(arguments.settings, extra=[PreparationArguments])
    counts = prepare_data(model_args, task, args.output_dir, preparation.shard_size)
    print(
        ", ".join(f"{name} {count}" for name, count in counts.items()) + f"; train with --prepared {args.output_dir}."
    )


if __name__ == "__main__":
    sys.exit(main())
