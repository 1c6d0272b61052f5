#!/usr/bin/env python
"""Run transformers' own common model tests on MarianMT and on this package's classes, and compare.

The tests come from the source distribution of the installed transformers, which pip downloads once. What that lacks
(the mixins for generation and export) stands in as empty classes. The last lines give both counts and every test that
passes for MarianMT and not for us; the exit status is 1 if there is one.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

STAND_INS = {
    "exporters/test_export.py": "class ExportTesterMixin:\n    pass\n",
    "generation/test_utils.py": "class GenerationTesterMixin:\n    pass\n",
    "utils/test_configuration_utils.py": "config_common_kwargs = {}\n",
}

TEST_MODULE = """
import unittest

from {package} import {config} as Config, {model} as Model, {whole} as Whole

from ..generation.test_utils import GenerationTesterMixin
from ..test_modeling_common import ModelTesterMixin, ids_tensor
from ..test_training_mixin import TrainingTesterMixin


class Sizes:
    batch_size, seq_length, encoder_seq_length, decoder_seq_length, key_length = 13, 7, 7, 7, 7
    hidden_size, num_hidden_layers, num_attention_heads, vocab_size = 16, 2, 4, 99
    pad_token_id, eos_token_id, decoder_start_token_id, is_training = 1, 2, 3, True

    def __init__(self, parent):
        self.parent = parent

    def get_config(self):
        return Config(
            vocab_size=99, d_model=16, dropout=0.1, max_position_embeddings=512,
            encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=4,
            decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=4,
            pad_token_id=1, eos_token_id=2, bos_token_id=0, decoder_start_token_id=3,
        )

    def prepare_config_and_inputs_for_common(self):
        source = ids_tensor([13, 7], 99).clamp(3)
        source[:, -1] = 2
        target = ids_tensor([13, 7], 99).clamp(3)
        return self.get_config(), {{
            "input_ids": source, "attention_mask": source.ne(1),
            "decoder_input_ids": target, "decoder_attention_mask": target.ne(1),
        }}

    prepare_config_and_inputs = prepare_config_and_inputs_for_common


class CommonTest(ModelTesterMixin, GenerationTesterMixin, TrainingTesterMixin, unittest.TestCase):
    all_model_classes = (Model, Whole)
    all_generative_model_classes = (Whole,)
    is_encoder_decoder = True
    test_missing_keys = False
    pipeline_model_mapping = {{}}

    def setUp(self):
        self.model_tester = Sizes(self)
"""

CLASSES = {
    "marian": {
        "package": "transformers",
        "config": "MarianConfig",
        "model": "MarianModel",
        "whole": "MarianMTModel",
    },
    "vaswani": {
        "package": "vaswani_mt",
        "config": "VaswaniConfig",
        "model": "VaswaniModel",
        "whole": "VaswaniForConditionalGeneration",
    },
}


def fetch_tests(folder: Path) -> Path:
    """The tests/ folder of the installed version's source distribution, downloaded into `folder` if not there."""
    version = importlib.metadata.version("transformers")
    tests = folder / f"transformers-{version}" / "tests"
    if not tests.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "-d", str(folder), f"transformers=={version}"], check=True)
        with tarfile.open(next(folder.glob(f"transformers-{version}.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return tests


def run(name: str, tests: Path, folder: Path) -> dict[str, str]:
    """Outcome (passed, failed, skipped) of each common test for one family of classes."""
    root = folder / f"run-{name}"
    package = root / "tests"
    (package / "common").mkdir(parents=True, exist_ok=True)
    for path in tests.glob("test_*.py"):
        link = package / path.name
        link.unlink(missing_ok=True)
        link.symlink_to(path.resolve())
    for path, text in STAND_INS.items():
        (package / path).parent.mkdir(exist_ok=True)
        (package / path).write_text(text)
    for directory in [package, *(path for path in package.iterdir() if path.is_dir())]:
        (directory / "__init__.py").touch()
    (root / "src").mkdir(exist_ok=True)
    (package / "common" / "test_modeling_common_classes.py").write_text(TEST_MODULE.format(**CLASSES[name]))
    report = root / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--timeout=300"]
    subprocess.run(
        [*command, f"--junitxml={report}", f"--rootdir={root}", str(package / "common")],
        cwd=root,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": f"{root}:{Path(__file__).parents[1]}"},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        outcomes[case.attrib["name"]] = (
            "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        )
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(".hf_suite"), help="where tests and reports lie")
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tests = fetch_tests(folder)
    results = {name: run(name, tests, folder) for name in CLASSES}
    for name, outcomes in results.items():
        values = list(outcomes.values())
        counts = ", ".join(f"{values.count(outcome)} {outcome}" for outcome in ("passed", "failed", "skipped"))
        print(f"{CLASSES[name]['whole']}: {counts}")
        for test, outcome in sorted(outcomes.items()):
            if outcome == "failed":
                print(f"  failed: {test}")
    behind = [
        test
        for test, outcome in results["marian"].items()
        if outcome == "passed" and results["vaswani"].get(test) != "passed"
    ]
    print(f"Passed by MarianMTModel and not by us: {', '.join(behind) or 'none'}")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
