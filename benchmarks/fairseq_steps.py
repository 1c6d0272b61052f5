"""Runs fairseq-train with the arguments given and prints, for every step, its seconds and its tokens as JSON.

For the interpreter of an environment that has fairseq (`pip install fairseq-fixed`); see train.py here.
"""

import json
import time

from fairseq.trainer import Trainer
from fairseq_cli.train import cli_main

take_step = Trainer.train_step


def measured(self, samples, *args, **kwargs):
    """As Trainer.train_step, then one line: seconds, source and target tokens without padding."""
    start = time.perf_counter()
    result = take_step(self, samples, *args, **kwargs)
    seconds = time.perf_counter() - start
    tokens = sum(int(sample["net_input"]["src_lengths"].sum()) + sample["ntokens"] for sample in samples)
    print(json.dumps({"seconds": seconds, "tokens": int(tokens)}), flush=True)
    return result


if __name__ == "__main__":
    Trainer.train_step = measured
    cli_main()
