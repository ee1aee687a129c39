"""Verifying on the real model: every byte and every effect, whatever was remembered of them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from tests.engine.damage import flip_a_byte, quarantined, weights_of
from veneer import Workspace
from veneer.errors import Cancelled, NotFound
from veneer.store.fs import RealFs
from veneer.tasks import CancelToken

Array = NDArray[np.float32]
IDS = (19556, 665, 28, 638)


def rot(workspace: Workspace, adapter: str) -> Path:
    """Change a byte so that the file's times do not tell."""
    path = weights_of(workspace, adapter)
    flip_a_byte(path)
    state = RealFs().stat(path)
    assert state is not None
    files = workspace.library.find_adapter(adapter).files
    workspace.custody._verifier.remember(path, state, files["adapter_model.safetensors"])
    return path


def edited(source: Path, folder: Path, edit: Callable[[Array], Array]) -> Path:
    """A copy of an adapter with another B everywhere."""
    folder.mkdir()
    (folder / "adapter_config.json").write_bytes((source / "adapter_config.json").read_bytes())
    tensors = load_file(source / "adapter_model.safetensors")
    made = {k: edit(v) if "lora_B" in k else v for k, v in tensors.items()}
    save_file(made, folder / "adapter_model.safetensors")
    return folder


def test_the_whole_library(workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path):
    """One that is damaged, one that does nothing and one that cannot run keep none from running."""
    pirate = adapter_paths["pirate"]
    workspace.import_path(edited(pirate, tmp_path / "inert", lambda b: b * np.float32(0)))
    workspace.import_path(edited(pirate, tmp_path / "narrow", lambda b: b[:100].copy()))
    workspace.activate("plain")
    before = workspace.logits(IDS)
    path = rot(workspace, "terse")
    steps = list[tuple[int, int]]()
    done = workspace.verify(progress=lambda done, total: steps.append((done, total)))
    found = {v.name: (v.code, v.probed_on) for v in done.value.verdicts}
    assert found == {
        "smol": (None, "smol"),
        "inert": ("ADAPTER_INERT", None),
        "json": (None, "smol"),
        "narrow": (None, None),
        "pirate": (None, "smol"),
        "terse": ("DAMAGED", None),
    }
    said = {v.name: v.message for v in done.value.verdicts}
    assert "fits no base. On “smol”: " in said["narrow"]
    assert "Needed by “both”" in said["terse"]
    assert quarantined(workspace.root) == [path.name]
    assert not done.value.ok
    assert workspace.library.find_adapter("terse").digest in done.changes.adapters
    sizes = [b.base.bytes for b in workspace.library.bases()]
    sizes += [a.size for a in workspace.library.adapters()]
    assert steps[-1] == (sum(sizes), sum(sizes))
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    # Whatever was run, it was run apart.
    assert [g.number for g in workspace.journal.all()] == [1]
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def test_a_stack_is_run_as_a_whole(workspace: Workspace):
    report = workspace.verify("both").value
    assert [(v.kind, v.name, v.ok) for v in report.verdicts] == [
        ("base", "smol", True),
        ("adapter", "pirate", True),
        ("adapter", "terse", True),
        ("composition", "both", True),
    ]
    assert workspace.journal.all() == ()


def test_what_is_damaged_is_not_run(workspace: Workspace):
    rot(workspace, "pirate")
    (verdict,) = workspace.verify("pirate").value.verdicts
    assert (verdict.name, verdict.code) == ("pirate", "DAMAGED")
    assert workspace.library.find_adapter("pirate").digest == verdict.id
    with pytest.raises(NotFound):
        workspace.verify("nobody")


def test_it_can_be_stopped_while_it_hashes(workspace: Workspace):
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        workspace.verify("smol", progress=lambda done, total: cancel.cancel(), cancel=cancel)
