"""Metrics as `evaluate` modules: each folder loads by path, evaluate.load("vaswani_mt/metrics/bleu"), or by name here.

No network is needed: the modules lie beside this file.
"""

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def load(name: str) -> Any:
    """The metric of that name, an `evaluate.Metric`.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    import evaluate  # takes a second, and most of the package does without

    names = sorted(path.parent.name for path in FOLDER.glob("*/*.py") if path.stem == path.parent.name)
    if name not in names:
        raise ValueError(f"Unknown metric {name!r}: it must be one of {', '.join(names)}.")
    # In memory: no cache folder to be writable, or to be shared by the processes of a run.
    return evaluate.load(str(FOLDER / name), keep_in_memory=True)
