#!/usr/bin/env python
"""The whole job on the embedded corpus: train, evaluate, translate. Takes minutes on two CPU cores.

A run that was stopped goes on where it was.
"""

import argparse
import runpy
import sys
from pathlib import Path

# The folder of this script has an evaluate.py, which would hide the library of that name.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from transformers import pipeline

import vaswani_mt  # noqa: F401  (brings pipeline("translation") back)
from vaswani_mt.data.grammar import splits
from vaswani_mt.tasks.translation import EMBEDDED_SIZES

YAML = Path(__file__).parents[1] / "hub_configs" / "demo" / "training.yaml"


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_dir", default="runs/demo", help="where the model goes")
    output_dir = parser.parse_args(argv).output_dir
    train = runpy.run_path(str(Path(__file__).with_name("train.py")))["main"]
    scores = train([str(YAML), "--output_dir", output_dir, "--resume", "true"])
    held_out = splits(EMBEDDED_SIZES)["test"][:6]
    translator = pipeline("translation", model=output_dir)  # type: ignore[call-overload]
    print("\nHeld-out sentences:")
    for example, output in zip(held_out, translator([example.en for example in held_out]), strict=True):
        print(f"  English    {example.en}\n  reference  {example.de}\n  model      {output['translation_text']}\n")
    print(f"BLEU on {EMBEDDED_SIZES['test']} held-out sentences: {scores['test_bleu']:.2f}")
    print(f"The model is in {output_dir}. Translate more of its kind of English:")
    print(f"  echo 'The old man sees a small dog.' | vaswani-mt translate --model {output_dir}")


if __name__ == "__main__":
    main(sys.argv[1:])
