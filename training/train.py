#!/usr/bin/env python
"""Train a model: accelerate launch training/train.py hub_configs/NAME/training.yaml [--field value ...]

`--help` lists every field. The folder --output_dir ends up with the model (the mean of the last checkpoints), the
vocabulary, the generation settings, the scores and a model card.
"""

import shlex
import sys
from pathlib import Path

# The folder of this script has an evaluate.py, which would hide the library of that name.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from transformers import EarlyStoppingCallback, set_seed
from transformers.utils import logging

from vaswani_mt.arguments import parse_arguments
from vaswani_mt.averaging import average_checkpoints, last_checkpoints
from vaswani_mt.building import build_data, build_model
from vaswani_mt.checkpoints import last_resumable
from vaswani_mt.model_card import write_model_card
from vaswani_mt.trainer import VaswaniTrainer

logger = logging.get_logger("vaswani_mt.train")


def main(argv: list[str]) -> dict[str, float]:
    """Run the whole job and return the final scores."""
    task, model_args, args = parse_arguments(argv)
    set_seed(args.seed)
    checkpoint = last_resumable(args.output_dir)
    if checkpoint and not args.resume:
        raise ValueError(f"{args.output_dir} holds checkpoints already: add --resume true, or choose another folder.")

    with args.main_process_first(desc="loading and encoding"):
        tokenizer, train_set, held_out = build_data(model_args, task, args.output_dir)

    model = build_model(model_args, task, tokenizer)
    if "validation" not in held_out:
        args.eval_strategy = "no"
    stopping = [EarlyStoppingCallback(args.early_stopping_patience)] if args.early_stopping_patience else []
    trainer = VaswaniTrainer(
        model=model,
        args=args,
        task=task,
        train_dataset=train_set,
        eval_dataset=held_out.get("validation"),
        processing_class=tokenizer,
        callbacks=stopping,
    )
    result = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if trainer.guard.terminated:
        resumed = argv if args.resume else [*argv, "--resume", "true"]
        logger.warning(
            f"Ended by SIGTERM after step {trainer.state.global_step} of {trainer.state.max_steps}; its checkpoint is "
            f"saved. Go on with: accelerate launch training/train.py {shlex.join(resumed)}"
        )
        return {}
    trainer.save_metrics("train", result.metrics)
    trainer.save_state()

    if args.average_checkpoints > 1 and args.save_strategy != "no":
        checkpoints = last_checkpoints(args.output_dir, args.average_checkpoints)
        logger.warning(f"The final model is the mean of {', '.join(path.name for path in checkpoints)}.")
        averaged = average_checkpoints(checkpoints)
        trainer.model.load_state_dict(averaged.state_dict())
    scores: dict[str, float] = {}
    for name in ("validation", "test"):
        if name in held_out:
            metrics = trainer.evaluate(held_out[name], metric_key_prefix=name)
            trainer.log_metrics(name, metrics)
            trainer.save_metrics(name, metrics)
            scores |= metrics
    if trainer.is_world_process_zero():
        trainer.model.save_pretrained(args.output_dir)
        tokenizer.save_pretrained(args.output_dir)
        command = "accelerate launch training/train.py " + shlex.join(argv)
        write_model_card(args.output_dir, task, trainer.model, scores, command)
    return scores


if __name__ == "__main__":
    main(sys.argv[1:])
