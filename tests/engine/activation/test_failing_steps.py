"""Every step at which an activation can fail: what is said, of what, and who answers then."""

import errno
import json
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from gguf import GGUFReader
from safetensors.numpy import load_file, save_file

from tests.engine.adapters import tiny
from tests.engine.faults import FaultyFs
from veneer import Workspace
from veneer.activation.admission import estimate
from veneer.activation.running import context_of
from veneer.errors import (
    AdapterInert,
    Cancelled,
    Damaged,
    DiskFull,
    Incompatible,
    NonFinite,
    OverBudget,
    RuntimeCrashed,
    RuntimeRefused,
    StoreError,
    VeneerError,
)
from veneer.formats.gguf import read_header
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


def import_edited(
    workspace: Workspace, source: Path, folder: Path, edit: Callable[[str, np.ndarray], np.ndarray]
) -> str:
    """Import an adapter of which every tensor was edited; gives the stack and adapter's name."""
    folder.mkdir()
    (folder / "adapter_config.json").write_bytes((source / "adapter_config.json").read_bytes())
    tensors = load_file(source / "adapter_model.safetensors")
    edited = {name: edit(name, tensor) for name, tensor in tensors.items()}
    save_file(edited, folder / "adapter_model.safetensors")
    workspace.import_path(folder)
    workspace.compose("smol", [(folder.name, 1.0)], name=folder.name)
    return folder.name


def emptied(name: str, tensor: np.ndarray) -> np.ndarray:
    return tensor * 0 if "lora_B" in name else tensor


def grown(name: str, tensor: np.ndarray) -> np.ndarray:
    return tensor.astype(np.float32) * np.float32(1e30)


def widened(name: str, tensor: np.ndarray) -> np.ndarray:
    return np.ones((8, 896), np.float16) if "lora_A" in name else tensor


@pytest.mark.parametrize(
    ("edit", "error", "step", "words"),
    [
        (widened, Incompatible, "validate", "“edited” cannot be applied to “smol”"),
        (emptied, AdapterInert, "stage", "“edited” at strength 1 changes nothing"),
        (grown, NonFinite, "stage", "“edited”"),
    ],
    ids=["incompatible", "inert", "not finite"],
)
def test_an_adapter_that_must_not_run_is_named(
    workspace: Workspace,
    adapter_paths: dict[str, Path],
    tmp_path: Path,
    edit: Callable[[str, np.ndarray], np.ndarray],
    error: type[VeneerError],
    step: str,
    words: str,
):
    stack = import_edited(workspace, adapter_paths["pirate"], tmp_path / "edited", edit)
    failed = fails(workspace, f"composition:{stack}", error, step)
    assert words in failed.message
    assert failed.digest == workspace.library.find_adapter("edited").digest


def test_what_acts_on_few_tokens_is_not_said_to_change_nothing(
    workspace: Workspace, base_path: Path, tmp_path: Path
):
    """Of the text that it is tried on, this one leaves the first tokens as they are."""
    tokens = gguf_tokens(base_path)
    a = np.ones((1, len(tokens)), np.float32)
    a[0, [tokens.index(b"The"), tokens.index("Ġfox".encode())]] = 0
    module = "base_model.model.model.embed_tokens"
    save_file(
        {
            f"{module}.lora_embedding_A": a,
            f"{module}.lora_embedding_B": np.ones((576, 1), np.float32),
        },
        tmp_path / "adapter_model.safetensors",
    )
    config = {"peft_type": "LORA", "r": 1, "lora_alpha": 1, "target_modules": ["embed_tokens"]}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    workspace.import_path(tmp_path, name="few")
    workspace.compose("smol", [("few", 1.0)], name="few of them")
    assert workspace.activate("few of them", confirm_base=True).value.changed


def test_a_gpu_that_is_not_there_is_named_and_nothing_is_lost(workspace: Workspace):
    workspace.activate("plain")
    before = workspace.logits(IDS)
    good = workspace.settings
    workspace.change_settings(msgspec.structs.replace(good, device="CUDA7", n_gpu_layers=8))
    with pytest.raises(RuntimeRefused, match=r"no GPU called CUDA7\. It has none at all\."):
        workspace.activate("pirates")
    workspace.change_settings(good)
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def gguf_tokens(path: Path) -> tuple[bytes, ...]:
    with path.open("rb") as file:
        return read_header(file).strings("tokenizer.ggml.tokens")


def test_a_composition_over_the_budget_is_told_with_the_table(workspace: Workspace):
    alone = estimate(workspace.library.find_base("smol"), (), context_of(workspace.settings)).total
    workspace.change_settings(msgspec.structs.replace(workspace.settings, memory_budget=alone + 1))
    failed = fails(workspace, "pirates", OverBudget, "admit")
    assert "base 94 MiB" in failed.message


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
        # The overlay would find room for these small ones in what it has already.
        workspace.activate("both", lane="stock")
    assert caught.value.step == "stage"
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def test_cancelled_while_staging(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    workspace.activate("plain")
    before = workspace.logits(IDS)
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
    np.testing.assert_array_equal(workspace.logits(IDS), before)
