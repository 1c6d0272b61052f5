#!/usr/bin/env python
"""Score a model: training/evaluate.py hub_configs/NAME/training.yaml --model DIR [--field value ...]

The YAML (or the command line) names the task and its test set; decoding follows the model's generation settings,
and any of them can be given too: --num_beams 4. Under `accelerate launch` each example is scored exactly once.
"""

import json
import sys
from pathlib import Path

# The folder of this script has an evaluate.py, which would hide the library of that name.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from transformers import AutoModelForSeq2SeqLM

import vaswani_mt  # noqa: F401  (registers the model with the Auto classes)
from vaswani_mt.arguments import EvaluationArguments, parse_arguments
from vaswani_mt.data.encoding import encode
from vaswani_mt.tokenization import load_tokenizer
from vaswani_mt.trainer import VaswaniTrainer


def main(argv: list[str]) -> dict[str, float]:
    """Evaluate, print the scores as JSON and return them."""
    task, model_args, args, evaluation = parse_arguments(argv, extra=[EvaluationArguments])
    if evaluation.model is None:
        raise ValueError("Give the model to evaluate: --model DIR.")
    args.report_to = []
    with args.main_process_first(desc="loading and encoding"):
        corpora = task.load([evaluation.split])
        tokenizer = load_tokenizer(evaluation.model)
        dataset = encode(corpora[evaluation.split], task, tokenizer, num_proc=model_args.preprocessing_num_proc)
    model = AutoModelForSeq2SeqLM.from_pretrained(evaluation.model)
    trainer = VaswaniTrainer(model=model, args=args, task=task, eval_dataset=dataset, processing_class=tokenizer)
    generation = evaluation.generation()
    result = trainer.predict(dataset, metric_key_prefix=evaluation.split, **generation)
    metrics = result.metrics or {}
    if trainer.is_world_process_zero():
        print(json.dumps(metrics, indent=2, ensure_ascii=False))
        if evaluation.hypotheses:
            lines = task.decode(result.predictions, tokenizer, dataset)
            Path(evaluation.hypotheses).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return metrics


if __name__ == "__main__":
    main(sys.argv[1:])
