"""Checkpoints that are whole or not there: written aside, synced to the disk, renamed; broken ones are passed over."""

import json
import os
import shutil
import zipfile
from pathlib import Path

from safetensors import SafetensorError, safe_open
from transformers.trainer_callback import TrainerState
from transformers.utils import logging

logger = logging.get_logger(__name__)

PREFIX = "checkpoint-"
STAGING = "_saving"  # a checkpoint being written lies in here; the underscore keeps it out of uploads to the Hub
STATE = "trainer_state.json"


def checkpoint_step(folder: Path) -> int | None:
    """The number in checkpoint-NUMBER; None for any other name."""
    number = folder.name.removeprefix(PREFIX)
    return int(number) if folder.name.startswith(PREFIX) and number.isdigit() else None


def defect(folder: Path) -> str | None:
    """What is wrong with a checkpoint, such as a file cut short; None if it is whole.

    Looks at the structure of every file (a safetensors file states its length, a .pt file ends in a table of
    contents), not at every byte, so that it takes no longer for a large model.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    if not any(path.suffix in (".safetensors", ".distcp") or "optim_states" in path.name for path in files):
        return "it holds no weights"
    for path in files:
        try:
            if path.suffix == ".safetensors":
                with safe_open(path, framework="pt"):
                    pass
            elif path.suffix in (".pt", ".pth"):
                with zipfile.ZipFile(path):
                    pass
            elif path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.stat().st_size == 0 and path.suffix in (".distcp", ".bin"):
                return f"{path.relative_to(folder)} is empty"
        except (OSError, ValueError, SafetensorError, zipfile.BadZipFile) as error:
            return f"{path.relative_to(folder)} is broken ({error})"
    return None


def whole_checkpoints(output_dir: str | Path) -> list[Path]:
    """The folders checkpoint-STEP of a run that can be used, oldest first; each of the others is warned about."""
    whole = []
    numbered = [(step, path) for path in Path(output_dir).glob(f"{PREFIX}*") if (step := checkpoint_step(path))]
    for _, path in sorted(numbered):
        if problem := defect(path):
            logger.warning(f"{path} is left out: {problem}. It was not saved to the end; delete it.")
        else:
            whole.append(path)
    return whole


def last_resumable(output_dir: str | Path) -> Path | None:
    """The last checkpoint that training can go on from, or None.

    A checkpoint whose saving was cut off (by kill -9, a power failure, a full disk) is warned about and passed over.
    """
    if unfinished := sorted(Path(output_dir).glob(f"{STAGING}/{PREFIX}*")):
        logger.warning(f"{unfinished[-1]} was never finished: it is not used, and the next checkpoint replaces it.")
    for path in reversed(whole_checkpoints(output_dir)):
        if (path / STATE).exists():
            return path
        logger.warning(f"{path} holds weights but no {STATE}: training cannot go on from it.")
    return None


def discard_staging(output_dir: str | Path) -> None:
    """Remove what an earlier, unfinished save left."""
    shutil.rmtree(Path(output_dir) / STAGING, ignore_errors=True)


def publish(output_dir: str | Path, name: str, state: TrainerState | None = None) -> Path:
    """Sync the staged checkpoint `name` to the disk, then rename it to its place: whoever looks sees all or nothing.

    Args:
        output_dir: the run's folder.
        name: checkpoint-STEP.
        state: written into the checkpoint first, where given.

    Returns:
        the checkpoint's folder.

    Raises:
        OSError: the disk does not take it. The run's folder is as it was.
    """
    staged, final = Path(output_dir) / STAGING / name, Path(output_dir) / name
    if state is not None:
        state.save_to_json(str(staged / STATE))
    for path in [*staged.rglob("*"), staged]:
        _sync(path)
    if final.exists():  # of an earlier start of the run, or broken
        replaced = staged.with_name(f"replaced-{name}")
        final.rename(replaced)
    staged.rename(final)
    _sync(final.parent)
    discard_staging(output_dir)
    return final


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save_failure(output_dir: str | Path, name: str, error: Exception) -> OSError:
    """The error to raise when `name` could not be saved: why, how much room there is, what is left to go on from."""
    discard_staging(output_dir)
    free = shutil.disk_usage(output_dir).free / 2**20
    last = last_resumable(output_dir)
    left = (
        f"The last whole checkpoint is {last}: make room and go on from it with --resume true."
        if last
        else ("There is no earlier checkpoint: make room and start again.")
    )
    return OSError(f"{name} could not be saved in {output_dir} ({free:.0f} MiB free): {error}. {left}")
