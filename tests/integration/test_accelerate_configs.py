"""The configurations for `accelerate launch`, read by accelerate itself; the one for CPUs runs."""

import pytest
from accelerate.commands.config.config_args import ClusterConfig
from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin

from vaswani_mt import VaswaniTrainingArguments, modeling_vaswani

from .processes import ROOT, write_work_folder
from .test_scripts import run

FOLDER = ROOT / "training" / "accelerate"
WANTED = {
    "one_gpu": (DistributedType.NO, 1, 1),
    "eight_gpus": (DistributedType.MULTI_GPU, 8, 1),
    "two_nodes": (DistributedType.MULTI_GPU, 16, 2),
    "fsdp": (DistributedType.FSDP, 8, 1),
    "deepspeed_zero2": (DistributedType.DEEPSPEED, 8, 1),
    "two_cpu_processes": (DistributedType.MULTI_GPU, 2, 1),
}


def read(name):
    return ClusterConfig.from_yaml_file(FOLDER / f"{name}.yaml")  # refuses keys it does not know


def test_every_file_is_known_here():
    assert {path.stem for path in FOLDER.iterdir()} == set(WANTED)


@pytest.mark.parametrize("name", WANTED)
def test_accelerate_reads_it(name):
    found = read(name)
    assert (found.distributed_type, found.num_processes, found.num_machines) == WANTED[name]
    assert found.mixed_precision == ("no" if "cpu" in name else "bf16")


def test_fsdp_shards_layers_that_there_are(monkeypatch):
    settings = read("fsdp").fsdp_config
    for key, value in settings.items():  # as the launcher hands them on
        monkeypatch.setenv(key.upper(), str(value))
    plugin = FullyShardedDataParallelPlugin()
    assert plugin.fsdp_version == 2
    assert plugin.reshard_after_forward is True
    assert plugin.state_dict_type.name == "FULL_STATE_DICT"
    layers = settings["fsdp_transformer_layer_cls_to_wrap"].split(",")
    assert sorted(layers) == sorted(modeling_vaswani.VaswaniPreTrainedModel._no_split_modules)
    assert all(hasattr(modeling_vaswani, layer) for layer in layers)


def test_deepspeed_is_stage_2_and_takes_accumulation_from_us():
    settings = read("deepspeed_zero2").deepspeed_config
    assert settings["zero_stage"] == 2
    assert settings["gradient_accumulation_steps"] == "auto"


@pytest.mark.parametrize(("processes", "steps"), [(1, 8), (2, 4), (3, 3), (8, 1), (16, 1)])
def test_a_batch_of_25000_tokens_is_kept_on_any_number_of_processes(processes, steps, monkeypatch):
    monkeypatch.setattr(VaswaniTrainingArguments, "world_size", processes)
    args = VaswaniTrainingArguments(use_cpu=True, tokens_per_batch=25000, max_tokens_per_device=3125)
    assert args.gradient_accumulation_steps == steps


def test_the_one_for_cpus_starts_two_processes(tmp_path):
    work = write_work_folder(tmp_path)
    output = run(
        [
            *("-m", "accelerate.commands.launch", "--config_file", FOLDER / "two_cpu_processes.yaml"),
            *(ROOT / "training" / "train.py", "training.yaml", "--output_dir", "run", "--max_steps", "2"),
            *("--save_strategy", "no"),
        ],
        work,
    )
    assert "over 2 process(es) and 2 accumulation step(s)" in output
