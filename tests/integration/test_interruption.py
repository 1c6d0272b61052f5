"""Runs that are killed, told to terminate, or find the disk full; with real signals and a real full disk."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from .processes import ROOT, finish, training, wait_for, write_work_folder


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return write_work_folder(tmp_path_factory.mktemp("work"))


STREAMING = ("--streaming", "true", "--shuffle_buffer", "100")


def straight(work, processes, *arguments):
    """The folder of an undisturbed run of 40 steps."""
    name = "-".join(["straight", str(processes), *arguments[:1]])
    if not (work / name / "checkpoint-40").exists():
        with training(work, "--output_dir", name, *arguments, processes=processes) as children:
            finish(children, work)
    return work / name


def states(folder):
    """Everything that a checkpoint must bring back, flattened to name: tensor or number."""
    found = dict(load_file(folder / "model.safetensors"))
    optimizer = torch.load(folder / "optimizer.pt", weights_only=True)
    for number, state in optimizer["state"].items():
        found |= {f"optimizer {number} {name}": value for name, value in state.items()}
    found |= {f"group {name}": value for name, value in optimizer["param_groups"][0].items()}
    found |= {f"schedule {k}": v for k, v in torch.load(folder / "scheduler.pt", weights_only=True).items()}
    return found


def assert_equal_bit_for_bit(left, right):
    left, right = states(left), states(right)
    assert left.keys() == right.keys()
    for name, value in left.items():
        same = torch.equal(value, right[name]) if isinstance(value, torch.Tensor) else value == right[name]
        assert same, name


def order(folder, rank, steps):
    """Digests of what the process trained on, for the given steps."""
    lines = [line.split() for line in (folder / f"order-{rank}").read_text().splitlines()]
    return [(step, digest) for step, digest in lines if int(step) in steps]


@pytest.mark.parametrize("arguments", [(), STREAMING], ids=["map-style", "streaming"])
@pytest.mark.parametrize("processes", [1, 2])
def test_killed_after_17_steps_and_resumed_equals_40_straight_bit_for_bit(work, processes, arguments):
    reference = straight(work, processes, *arguments)
    run = work / f"killed-{processes}-{len(arguments)}"
    with training(work, "--output_dir", run.name, *arguments, processes=processes, pause=0.02) as children:
        noted = run / "order-0"
        wait_for(lambda: noted.exists() and "\n20 " in noted.read_text(), children, work)
        for child in children:
            os.kill(child.pid, signal.SIGKILL)
        finish(children, work, status=-signal.SIGKILL)
    assert not (run / "checkpoint-34").exists()
    for rank in range(processes):
        killed = order(run, rank, range(17))
        assert killed == order(reference, rank, range(17))
        (run / f"order-{rank}").unlink()
    with training(work, "--output_dir", run.name, "--resume", "true", *arguments, processes=processes) as children:
        finish(children, work)
    for rank in range(processes):
        resumed = order(run, rank, range(40))
        assert {int(step) for step, _ in resumed} == set(range(17, 40))
        assert resumed == order(reference, rank, range(17, 40))
    assert_equal_bit_for_bit(reference / "checkpoint-40", run / "checkpoint-40")


@pytest.mark.parametrize("processes", [1, 2])
def test_sigterm_saves_and_exits_with_0_and_says_how_to_go_on(work, processes):
    run = work / f"terminated-{processes}"
    with training(work, "--output_dir", run.name, processes=processes, pause=0.02) as children:
        noted = run / "order-0"
        wait_for(lambda: noted.exists() and "\n20 " in noted.read_text(), children, work)
        os.kill(children[-1].pid, signal.SIGTERM)  # only one of them
        text = finish(children, work)
    step = max(int(path.name.removeprefix("checkpoint-")) for path in run.glob("checkpoint-*"))
    assert 20 < step < 40
    assert f"Ended by SIGTERM after step {step} of 40" in text
    assert f"training/train.py training.yaml --output_dir {run.name} --resume true" in text
    with training(work, "--output_dir", run.name, "--resume", "true", processes=processes) as children:
        finish(children, work)
    assert_equal_bit_for_bit(straight(work, processes) / "checkpoint-40", run / "checkpoint-40")


def test_killed_while_saving_it_goes_on_from_the_checkpoint_before(work):
    """The process is killed between the weights of checkpoint-34 and the rest of it."""
    run = work / "cut"
    with training(work, "--output_dir", run.name) as children:
        part = run / "_saving" / "checkpoint-34" / "model.safetensors"

        def saving():
            if part.exists():
                children[0].kill()
            return part.exists() or (run / "checkpoint-34").exists()

        wait_for(saving, children, work)
        children[0].join()
    if (run / "checkpoint-34").exists():  # saved between two looks: cut it by hand as a kill at that place would
        (run / "_saving").mkdir()
        shutil.move(run / "checkpoint-34", run / "_saving")
        (run / "_saving" / "checkpoint-34" / "optimizer.pt").unlink(missing_ok=True)
        shutil.rmtree(run / "checkpoint-40", ignore_errors=True)
    with training(work, "--output_dir", run.name, "--resume", "true") as children:
        text = finish(children, work)
    assert "checkpoint-34 was never finished" in text
    assert not (run / "_saving").exists()
    assert_equal_bit_for_bit(straight(work, 1) / "checkpoint-40", run / "checkpoint-40")


def test_a_full_disk_is_a_clear_error_and_the_last_checkpoint_stays(work):
    """The run's folder is a file system of its own, with room for two checkpoints, not for three."""
    run = work / "full"
    run.mkdir(exist_ok=True)
    size = sum(path.stat().st_size for path in (straight(work, 1) / "checkpoint-17").iterdir())
    command = f"mount -t tmpfs -o size={int(2.4 * size)} tmpfs {run} && {sys.executable} "
    command += f"{ROOT / 'training' / 'train.py'} training.yaml --output_dir {run.name} --save_steps 10; status=$?; "
    command += f"cp -r {run} {work / 'found'}; exit $status"
    process = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", command],
        cwd=work,
        env=os.environ | {"HF_HOME": str(work / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1, process.stderr[-3000:]
    assert "OSError: checkpoint-30 could not be saved in" in process.stderr
    assert "full/checkpoint-20: make room and go on from it with --resume true" in process.stderr
    found = sorted(path.name for path in (work / "found").iterdir() if path.is_dir())
    assert found == ["checkpoint-10", "checkpoint-20"]
    with training(work, "--output_dir", "found", "--resume", "true") as children:
        finish(children, work)
    assert_equal_bit_for_bit(straight(work, 1) / "checkpoint-40", work / "found" / "checkpoint-40")
