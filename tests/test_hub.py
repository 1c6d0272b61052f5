"""A saved folder is what a Hub repository holds: it loads with the package, and without it where code is trusted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

import vaswani_mt  # noqa: F401  (registers the model)
from vaswani_mt.configuration_vaswani import VaswaniConfig
from vaswani_mt.modeling_vaswani import VaswaniForConditionalGeneration

from .conftest import small_model

ROOT = Path(__file__).resolve().parent.parent
# The package cannot be imported here, as on a machine that does not have it.
ELSEWHERE = """
import sys
sys.modules["vaswani_mt"] = None
import torch
from transformers import AutoModelForSeq2SeqLM
folder, output, trust = sys.argv[1:]
model = AutoModelForSeq2SeqLM.from_pretrained(folder, **({"trust_remote_code": True} if trust == "yes" else {})).eval()
ids = torch.tensor([[5, 6, 7, 2]])
with torch.no_grad():
    logits = model(input_ids=ids, decoder_input_ids=ids).logits
torch.save({"logits": logits, "text": model.generate(ids, num_beams=4, max_new_tokens=8)}, output)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hub") / "model"
    small_model().save_pretrained(path)
    return path


def load_elsewhere(folder, tmp_path, trust):
    environment = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", ELSEWHERE, folder, tmp_path / "output.pt", trust]
    return subprocess.run(
        list(map(str, command)), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


def test_same_logits_and_output_without_the_package(folder, tmp_path):
    result = load_elsewhere(folder, tmp_path, "yes")
    assert result.returncode == 0, result.stderr
    elsewhere = torch.load(tmp_path / "output.pt")
    ids = torch.tensor([[5, 6, 7, 2]])
    for arguments in ({}, {"trust_remote_code": False}):
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, **arguments).eval()
        assert type(model) is VaswaniForConditionalGeneration
        with torch.no_grad():
            assert torch.equal(model(input_ids=ids, decoder_input_ids=ids).logits, elsewhere["logits"])
        assert torch.equal(model.generate(ids, num_beams=4, max_new_tokens=8), elsewhere["text"])


def test_transformers_refuses_the_code_where_it_is_not_trusted(folder, tmp_path):
    result = load_elsewhere(folder, tmp_path, "no")
    assert result.returncode != 0
    assert "trust_remote_code=True" in result.stderr
    assert not (tmp_path / "output.pt").exists()


def test_saved_files_are_weights_settings_and_the_code_that_the_model_needs(folder):
    names = {path.name for path in folder.iterdir()}
    code = {name for name in names if name.endswith(".py")}
    assert names - code == {"config.json", "generation_config.json", "model.safetensors"}
    assert {"configuration_vaswani.py", "modeling_vaswani.py"} <= code
    for name in code:
        assert (folder / name).read_bytes() == (ROOT / "vaswani_mt" / name).read_bytes()
    assert json.loads((folder / "config.json").read_text())["auto_map"] == {
        "AutoConfig": "configuration_vaswani.VaswaniConfig",
        "AutoModelForSeq2SeqLM": "modeling_vaswani.VaswaniForConditionalGeneration",
    }


@pytest.mark.parametrize("path", sorted((ROOT / "hub_configs").iterdir()), ids=lambda path: path.name)
def test_published_settings_instantiate(path):
    assert type(AutoConfig.from_pretrained(path)) is VaswaniConfig
