"""Real training processes, to be killed and looked at: forked from a server that has the libraries loaded already."""

import hashlib
import json
import multiprocessing
import os
import runpy
import socket
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import yaml

import vaswani_mt.modeling_vaswani  # noqa: F401  (loaded here so that no child has to)
from vaswani_mt.data.grammar import splits
from vaswani_mt.trainer import VaswaniTrainer

ROOT = Path(__file__).parents[2]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__, "tensorboard", "vaswani_mt.averaging", "vaswani_mt.building"])
SMALL = {
    "model_type": "vaswani",
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
SETTINGS = {
    "train_files": ["train.en", "train.de"],
    "vocab_size": 400,
    "tokens_per_batch": 600,
    "max_tokens_per_device": 200,
    "max_steps": 40,
    "learning_rate": 0.01,
    "warmup_steps": 5,
    "save_strategy": "steps",
    "save_steps": 17,
    "average_checkpoints": 1,
    "eval_strategy": "no",
    "logging_steps": 1,
    "report_to": "none",
    "use_cpu": True,
}


def write_work_folder(folder, **settings):
    """Parallel files of the embedded grammar, a configuration and a training.yaml."""
    for language in ("en", "de"):
        lines = [getattr(example, language) for example in splits({"train": 300})["train"]]
        (folder / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    (folder / "config.json").write_text(json.dumps(SMALL))
    (folder / "training.yaml").write_text(yaml.safe_dump(SETTINGS | settings))
    return folder


def _train(folder, arguments, environment, log, pause):
    """The child: training/train.py, noting a digest of what every step is given, in `order-RANK`."""
    os.chdir(folder)
    os.environ.update(environment)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    step = VaswaniTrainer.training_step

    def noted(self, model, inputs, num_items_in_batch=None):
        time.sleep(pause)
        digest = hashlib.sha1(inputs["input_ids"].numpy().tobytes() + inputs["labels"].numpy().tobytes()).hexdigest()
        with open(Path(self.args.output_dir) / f"order-{self.args.process_index}", "a") as order:
            order.write(f"{self.state.global_step} {digest}\n")
        return step(self, model, inputs, num_items_in_batch)

    VaswaniTrainer.training_step = noted
    script = str(ROOT / "training" / "train.py")
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


@contextmanager
def training(folder, *arguments, processes=1, pause=0.0):
    """Start training/train.py training.yaml ARGUMENTS on so many processes (gloo); yields them, none is left behind.

    What they print goes to `log` in the folder.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environments = [
        {"RANK": f"{rank}", "LOCAL_RANK": f"{rank}", "WORLD_SIZE": f"{processes}", "MASTER_ADDR": "127.0.0.1"}
        | {"MASTER_PORT": f"{port}", "HF_HOME": str(folder / "home")}
        if processes > 1
        else {"HF_HOME": str(folder / "home")}
        for rank in range(processes)
    ]
    children = [
        CONTEXT.Process(
            target=_train, args=(folder, ["training.yaml", *arguments], environment, folder / "log", pause)
        )
        for environment in environments
    ]
    for child in children:
        child.start()
    try:
        yield children
    finally:
        for child in children:
            if child.is_alive():
                child.kill()
            child.join()


def finish(children, folder, status=0):
    """Wait for the processes to end with that exit status; returns what was printed since the last call."""
    for child in children:
        child.join(120)
    log = folder / "log"
    text = log.read_text()
    log.unlink()
    assert [child.exitcode for child in children] == [status] * len(children), text[-4000:]
    return text


def wait_for(condition, children, folder, seconds=120):
    """Until `condition()` holds; fails when the processes end before."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        assert any(child.is_alive() for child in children), (folder / "log").read_text()[-4000:]
        time.sleep(0.01)
