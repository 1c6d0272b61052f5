"""The mean of several checkpoints of one run (section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from tqdm.auto import tqdm
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedModel

from .checkpoints import whole_checkpoints


def last_checkpoints(output_dir: str | Path, number: int) -> list[Path]:
    """The last `number` folders checkpoint-STEP of a run, oldest first; fewer when there are fewer.

    Those that were not saved to the end do not count.

    Raises:
        FileNotFoundError: there is none.
    """
    found = [path for path in whole_checkpoints(output_dir) if any(path.glob("*.safetensors"))]
    if not found:
        raise FileNotFoundError(f"No checkpoint-STEP folder with weights in {output_dir}.")
    return found[-number:]


def average_checkpoints(paths: Sequence[str | Path]) -> PreTrainedModel:
    """A model whose weights are the mean of those saved in `paths`, and whose configuration is the last one's.

    Sums are taken in float64, so that the mean of k equal checkpoints is that checkpoint, bit for bit; tied weights
    are saved once, hence stay tied.

    Raises:
        ValueError: no path, or checkpoints whose configuration, tensors or shapes differ.
    """
    if not paths:
        raise ValueError("No checkpoint to average.")
    folders = [Path(path) for path in paths]
    model = AutoModelForSeq2SeqLM.from_pretrained(folders[-1])
    config = model.config.to_diff_dict()
    total: dict[str, torch.Tensor] = {}
    for folder in tqdm(folders, desc="Averaging checkpoints", unit=" checkpoints"):
        other = AutoConfig.from_pretrained(folder).to_diff_dict()
        ignored = ("dtype", "architectures", "transformers_version")
        differing = {k for k in config | other if k not in ignored and config.get(k) != other.get(k)}
        if differing:
            raise ValueError(f"{folder} and {folders[-1]} cannot be averaged: {', '.join(sorted(differing))} differ.")
        tensors = _tensors(folder)
        if total and total.keys() != tensors.keys():
            missing = sorted(total.keys() ^ tensors.keys())
            raise ValueError(f"{folder} and {folders[0]} do not hold the same tensors: {', '.join(missing[:5])}.")
        for name, tensor in tensors.items():
            total[name] = total.get(name, 0) + tensor.double()
    mean = {name: tensor / len(folders) for name, tensor in total.items()}
    parameters = dict(model.named_parameters()) | dict(model.named_buffers())
    with torch.no_grad():
        for name, tensor in mean.items():
            parameters[name].copy_(tensor)
    return model


def _tensors(folder: Path) -> dict[str, torch.Tensor]:
    """Every tensor saved in the folder's safetensors files, one or several."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ValueError(f"{folder} holds no .safetensors weights.")
    tensors: dict[str, torch.Tensor] = {}
    for file in files:
        with safe_open(file, framework="pt") as weights:
            tensors |= {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    return tensors
