"""Which checkpoints count as whole."""

import torch

from vaswani_mt.averaging import last_checkpoints
from vaswani_mt.checkpoints import defect, last_resumable, whole_checkpoints

from .conftest import small_model


def checkpoint(run, step):
    """A folder as the Trainer writes it."""
    folder = run / f"checkpoint-{step}"
    model = small_model()
    model.save_pretrained(folder)
    torch.save(torch.optim.Adam(model.parameters()).state_dict(), folder / "optimizer.pt")
    (folder / "trainer_state.json").write_text("{}")
    return folder


def cut(file):
    """Leave the first half, as a crash of the machine does."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def test_the_last_by_number_is_taken(tmp_path):
    for step in (9, 10, 100):
        checkpoint(tmp_path, step)
    assert last_resumable(tmp_path) == tmp_path / "checkpoint-100"
    assert [path.name for path in last_checkpoints(tmp_path, 2)] == ["checkpoint-10", "checkpoint-100"]


def test_a_file_cut_short_is_named_and_the_checkpoint_passed_over(tmp_path, caplog):
    checkpoint(tmp_path, 1)
    for name in ("model.safetensors", "optimizer.pt", "config.json"):
        folder = checkpoint(tmp_path, 2)
        cut(folder / name)
        assert defect(folder).startswith(f"{name} is broken")
        assert last_resumable(tmp_path) == tmp_path / "checkpoint-1"
        assert f"checkpoint-2 is left out: {name} is broken" in caplog.text
        assert last_checkpoints(tmp_path, 5) == [tmp_path / "checkpoint-1"]


def test_a_folder_without_weights_is_no_checkpoint(tmp_path, caplog):
    checkpoint(tmp_path, 3)
    (tmp_path / "checkpoint-4").mkdir()
    (tmp_path / "checkpoint-best").mkdir()
    assert whole_checkpoints(tmp_path) == [tmp_path / "checkpoint-3"]
    assert "checkpoint-4 is left out: it holds no weights" in caplog.text


def test_weights_alone_can_be_averaged_but_not_resumed(tmp_path, caplog):
    (checkpoint(tmp_path, 5) / "trainer_state.json").unlink()
    assert last_resumable(tmp_path) is None
    assert "holds weights but no trainer_state.json" in caplog.text
    assert last_checkpoints(tmp_path, 1) == [tmp_path / "checkpoint-5"]


def test_no_folder_no_checkpoint(tmp_path):
    assert last_resumable(tmp_path / "nowhere") is None
