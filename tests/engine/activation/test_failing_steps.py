"""Every step at which an activation can fail: what is said, of what, and who answers then."""

import errno
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from safetensors.numpy import load_file, save_file

from tests.engine.adapters import tiny
from tests.engine.faults import FaultyFs
from veneer import Workspace
from veneer.errors import (
    Cancelled,
    Damaged,
    DiskFull,
    NonFinite,
    RuntimeCrashed,
    RuntimeRefused,
    StoreError,
    VeneerError,
)
from veneer.tasks import CancelToken

IDS = (19556, 665, 28, 638, 359, 346, 47)


def weights_of(workspace: Workspace, name: str) -> Path:
    digest = workspace.library.find_adapter(name).files["adapter_model.safetensors"]
    hexes = digest.removeprefix("sha256:")
    return workspace.root / "objects" / hexes[:2] / hexes


def fails(workspace: Workspace, stack: str, error: type[VeneerError], step: str) -> VeneerError:
    """Activating fails so, and the previous generation answers as before."""
    workspace.activate("plain")
    before = workspace.logits(IDS)
    with pytest.raises(error) as caught:
        workspace.activate(stack)
    assert caught.value.step == step
    aborted = workspace.journal.all()[0]
    assert aborted.state == "ABORTED"
    assert f"{caught.value.full_code} at {step}: " in (aborted.reason or "")
    active = workspace.active()
    assert active is not None
    assert active[1].name == "plain"
    np.testing.assert_array_equal(workspace.logits(IDS), before)
    return caught.value


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [flip_a_byte, Path.unlink], ids=["bad digest", "vanished"])
def test_a_file_that_is_not_what_it_was_names_its_adapter(
    workspace: Workspace, harm: Callable[[Path], None]
):
    harm(weights_of(workspace, "pirate"))
    error = fails(workspace, "pirates", Damaged, "validate")
    assert error.digest == workspace.library.find_adapter("pirate").digest


def test_results_that_are_no_numbers_name_their_adapter(
    workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path
):
    huge = tmp_path / "huge"
    huge.mkdir()
    source = adapter_paths["pirate"]
    (huge / "adapter_config.json").write_bytes((source / "adapter_config.json").read_bytes())
    tensors = load_file(source / "adapter_model.safetensors")
    grown = {k: v.astype(np.float32) * np.float32(1e30) for k, v in tensors.items()}
    save_file(grown, huge / "adapter_model.safetensors")
    workspace.import_path(huge)
    workspace.compose("smol", [("huge", 1.0)], name="endless")
    error = fails(workspace, "endless", NonFinite, "stage")
    assert error.digest == workspace.library.find_adapter("huge").digest


def test_a_base_with_a_weight_that_is_no_number(workspace: Workspace, tmp_path: Path):
    """In a row that no prompt of the probe reads, so that only a look at every weight finds it."""
    whole, rotten = tmp_path / "whole.gguf", tmp_path / "rotten.gguf"
    whole.write_bytes(tiny.base_bytes())
    (embedding,) = (t for t in GGUFReader(whole).tensors if t.name == "token_embd.weight")
    data = bytearray(whole.read_bytes())
    last = int(embedding.data_offset + embedding.n_bytes)
    data[last - 4 : last] = np.float32(np.nan).tobytes()
    rotten.write_bytes(data)
    for path in (whole, rotten):
        workspace.import_path(path)
        workspace.compose(path.stem, [], name=f"{path.stem} only")
    workspace.activate("whole only")
    error = fails(workspace, "rotten only", NonFinite, "stage")
    assert error.digest == workspace.library.find_base("rotten").digest
    assert "has weights that are not numbers" in error.message


@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EROFS, StoreError)])
def test_a_disk_that_takes_no_runtime_form(root: Path, number: int, error: type[VeneerError]):
    fs = FaultyFs("create", 2, number, persistent=True)
    with Workspace.open(root, fs=fs) as workspace:
        failed = fails(workspace, "pirates", error, "plan")
        assert fs.reached
        assert failed.digest == workspace.library.find_adapter("pirate").digest
    assert list((root / "tmp").iterdir()) == []


def test_a_database_that_takes_no_row_changes_nothing(workspace: Workspace):
    workspace.activate("plain")
    before = workspace.logits(IDS)
    workspace.journal._database._connection.execute("PRAGMA query_only=ON")
    with pytest.raises(StoreError) as caught:
        workspace.activate("pirates")
    assert caught.value.step == "request"
    np.testing.assert_array_equal(workspace.logits(IDS), before)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of another process")
def test_a_worker_out_of_memory(workspace: Workspace):
    import resource

    import psutil

    workspace.activate("plain")
    pid = workspace._runtime.pid
    assert pid is not None
    before = workspace.logits(IDS)
    used = psutil.Process(pid).memory_info().vms
    resource.prlimit(pid, resource.RLIMIT_AS, (used, used))
    with pytest.raises((RuntimeCrashed, RuntimeRefused)) as caught:
        workspace.activate("both")
    assert caught.value.step == "stage"
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def test_cancelled_while_staging(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    workspace.activate("plain")
    cancel = CancelToken()
    advance = workspace.journal.advance

    def advanced(number: int, state: str) -> None:
        advance(number, state)  # type: ignore[arg-type]
        if state == "VALIDATED":
            cancel.cancel()

    monkeypatch.setattr(workspace.journal, "advance", advanced)
    with pytest.raises(Cancelled) as caught:
        workspace.activate("both", cancel=cancel)
    assert caught.value.step in {"stage", "commit"}
    assert workspace.journal.all()[0].state == "ABORTED"
