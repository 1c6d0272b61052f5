#!/usr/bin/env python
"""The plan of an epoch over a corpus as large as WMT14 English-French: seconds, peak memory, padding.

    benchmarks/batches.py EN DE [--pairs 36000000]

Lengths are drawn from those of the parallel text given, each a little changed; 25,000 tokens a batch in 8 parts.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from vaswani_mt.data.batching import TokenBatchSampler, padding_share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=2, type=Path, help="parallel text")
    parser.add_argument("--pairs", type=int, default=36_000_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    known = [
        np.array([len(line.split()) + 1 for line in file.read_text(encoding="utf-8").splitlines()], dtype=np.int32)
        for file in arguments.files
    ]
    rows = rng.integers(0, len(known[0]), arguments.pairs, dtype=np.int32)
    # WMT's sentences are about twice as long as Multi30k's, and spread wider.
    factor = rng.lognormal(0.6, 0.5, arguments.pairs).astype(np.float32)
    source, target = (np.clip(lengths[rows] * factor, 1, 256).astype(np.int32) for lengths in known)
    del rows, factor
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    sampler = TokenBatchSampler(source, target, 25_000, micro_batches=8)
    sampler.set_epoch(1)
    batches = sampler.epoch_batches()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{arguments.pairs} pairs, {sampler.num_batches} batches: {seconds:.1f} s, peak {peak:.2f} GiB of the process "
        f"({before:.2f} GiB before the plan); padding: source {padding_share(source, batches):.1%}, target "
        f"{padding_share(target, batches):.1%}"
    )


if __name__ == "__main__":
    main()
