"""Importing, and what is left when it fails."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.engine.adapters import tiny
from tests.engine.faults import FaultyFs
from veneer import Workspace
from veneer.errors import (
    Cancelled,
    Damaged,
    DiskFull,
    FormatError,
    NameTaken,
    NotFound,
    PickleRefused,
    UnsupportedAdapter,
    VeneerError,
)
from veneer.identity import sha256_bytes
from veneer.tasks import CancelToken

BASE_SHA256 = "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def snapshot(workspace: Workspace) -> tuple:
    files = sorted(
        (str(p.relative_to(workspace.root)), p.stat().st_size)
        for folder in ("objects", "manifests", "tmp")
        for p in (workspace.root / folder).rglob("*")
        if p.is_file()
    )
    return workspace.library.bases(), workspace.library.adapters(), files


def test_a_base_is_linked_where_it_lies(tmp_path: Path, base_path: Path):
    with Workspace.open(tmp_path) as workspace:
        done = workspace.import_path(base_path).value
        assert (done.kind, done.id, done.already) == ("base", BASE_SHA256, False)
        stored = workspace.library.find_base("SmolLM2-135M-Instruct.Q4_1")
        assert stored.file == base_path
        assert not stored.copied
        assert list((tmp_path / "objects").rglob("*")) == []
        assert (stored.base.n_layers, stored.base.n_embd, stored.base.n_vocab) == (30, 576, 49152)


def test_an_adapter_remembers_where_it_came_from(tmp_path: Path, adapter_paths: dict[str, Path]):
    with Workspace.open(tmp_path) as workspace:
        workspace.import_path(adapter_paths["pirate"])
        assert workspace.library.find_adapter("pirate").source == str(adapter_paths["pirate"])


def test_a_copied_base_outlives_its_source(tmp_path: Path, base_path: Path):
    source = tmp_path / "here.gguf"
    shutil.copy(base_path, source)
    with Workspace.open(tmp_path / "ws") as workspace:
        done = workspace.import_path(source, copy=True).value
        source.unlink()
        workspace.custody.verify_base(workspace.library.base(done.id), thorough=True)
        assert done.id == BASE_SHA256


def test_an_adapter_s_files_are_kept_by_digest(tmp_path: Path, adapter_paths: dict[str, Path]):
    with Workspace.open(tmp_path) as workspace:
        done = workspace.import_path(adapter_paths["pirate"]).value
        stored = workspace.library.adapter(done.id)
        for name, digest in stored.files.items():
            data = (adapter_paths["pirate"] / name).read_bytes()
            assert digest == sha256_bytes(data)
            with workspace.library.source(stored).open(name) as file:
                assert file.read() == data
        assert stored.adapter.ranks == (8,)
        assert len(stored.adapter.targets) == 60
        assert {t.scaling for t in stored.adapter.targets} == {2.0}


def test_a_named_adapter_s_own_folder_is_found(workspace: Workspace, adapter_paths, tmp_path: Path):
    shutil.copytree(adapter_paths["pirate"], tmp_path / "run" / "style")
    (tmp_path / "run" / "README.md").write_text("notes")
    direct = workspace.import_path(adapter_paths["pirate"]).value
    done = workspace.import_path(tmp_path / "run").value
    assert (done.kind, done.id, done.already) == ("adapter", direct.id, True)


def test_several_named_adapters_are_named(workspace: Workspace, adapter_paths, tmp_path: Path):
    for name in ("checkpoint-10", "checkpoint-20"):
        shutil.copytree(adapter_paths["pirate"], tmp_path / "run" / name)
    before = snapshot(workspace)
    with pytest.raises(FormatError) as caught:
        workspace.import_path(tmp_path / "run")
    assert caught.value.rule == "COUNT"
    assert "checkpoint-10, checkpoint-20" in caught.value.message
    assert snapshot(workspace) == before


@pytest.mark.parametrize("dropped", ["", "adapters.safetensors", "adapter_config.json"])
def test_an_mlx_adapter_is_one_whatever_part_is_dropped(
    workspace: Workspace, tmp_path: Path, dropped: str
):
    folder = tmp_path / "haiku"
    folder.mkdir()
    for name, data in tiny.mlx_files(tiny.factors()).items():
        (folder / name).write_bytes(data)
    done = workspace.import_path(folder / dropped).value
    assert (done.kind, done.name) == ("adapter", "haiku")
    stored = workspace.library.find_adapter("haiku")
    assert set(stored.files) == {"adapter_config.json", "adapters.safetensors"}
    report = workspace.check("haiku", "smol")
    assert not report.ok
    assert "layers of width 16" in report.problems[0].message


def test_importing_twice_changes_nothing(workspace: Workspace, adapter_paths: dict[str, Path]):
    before = snapshot(workspace)
    done = workspace.import_path(adapter_paths["json"]).value
    assert done.already
    assert snapshot(workspace) == before


def test_importing_again_heals_a_damaged_object(
    workspace: Workspace, adapter_paths: dict[str, Path]
):
    stored = workspace.library.find_adapter("json")
    for digest in stored.files.values():
        hexes = digest.removeprefix("sha256:")
        (workspace.root / "objects" / hexes[:2] / hexes).write_bytes(b"rot")
    workspace.import_path(adapter_paths["json"])
    workspace.custody.verify_adapter(stored, thorough=True)


def test_two_adapters_of_one_folder_name_get_two_names(
    workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path
):
    other = tmp_path / "pirate"
    shutil.copytree(adapter_paths["terse"], other)
    config = other / "adapter_config.json"
    config.write_text(config.read_text() + "\n")
    assert workspace.import_path(other).value.name == "pirate-2"


def test_a_taken_name_is_refused_before_anything_is_kept(
    workspace: Workspace, adapter_paths: dict[str, Path], tmp_path: Path
):
    other = tmp_path / "fresh"
    shutil.copytree(adapter_paths["terse"], other)
    config = other / "adapter_config.json"
    config.write_text(config.read_text() + " ")
    before = snapshot(workspace)
    with pytest.raises(NameTaken, match="pirate"):
        workspace.import_path(other, name="pirate")
    assert snapshot(workspace) == before


@pytest.fixture
def bad(tmp_path: Path, base_path: Path, adapter_paths: dict[str, Path]) -> dict[str, Path]:
    """Things people really drop on a window, and that must not get in."""
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "adapter_model.bin").write_bytes(b"\x80\x04pickle")
    with base_path.open("rb") as file:
        (folder / "cut.gguf").write_bytes(file.read(5_000_000))
    (folder / "letter.txt").write_text("Dear model")
    (folder / "empty.gguf").touch()
    (folder / "lone").mkdir()
    shutil.copy(adapter_paths["json"] / "adapter_model.safetensors", folder / "lone")
    (folder / "cut").mkdir()
    shutil.copy(adapter_paths["json"] / "adapter_config.json", folder / "cut")
    weights = (adapter_paths["json"] / "adapter_model.safetensors").read_bytes()
    (folder / "cut" / "adapter_model.safetensors").write_bytes(weights[:-100])
    (folder / "nothing").mkdir()
    (folder / "readme").mkdir()
    (folder / "readme" / "README.md").touch()
    (folder / "model").mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / "model" / name).touch()
    weight = np.ones((2, 2), np.float32)
    save_file({"model.norm.weight": weight}, folder / "model.safetensors")
    image = "lora_unet_mid_block_attentions_0_proj_in"
    save_file({f"{image}.lora_down.weight": weight}, folder / "image.safetensors")
    (folder / "two").mkdir()
    for name in ("a.safetensors", "b.safetensors"):
        (folder / "two" / name).touch()
    return {p.name: p for p in folder.iterdir()} | {"missing": folder / "missing"}


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("adapter_model.bin", PickleRefused, "safe_serialization"),
        ("cut.gguf", FormatError, "lacks 93362432 bytes"),
        ("letter.txt", FormatError, "letter.txt is neither a base nor an adapter. A base is a"),
        ("empty.gguf", FormatError, "empty.gguf is neither a base nor an adapter"),
        ("lone", FormatError, "strongly"),
        ("cut", FormatError, "lacks 100 bytes"),
        ("nothing", FormatError, "nothing is empty"),
        ("readme", FormatError, r"which holds README.md. A base is a .gguf file"),
        ("model", FormatError, "a whole model in Hugging Face's form"),
        ("model.safetensors", FormatError, "this is a model or a part of one"),
        ("image.safetensors", UnsupportedAdapter, "LoRAs for image models cannot be applied"),
        ("two", FormatError, "several files with weights"),
        ("missing", NotFound, "missing"),
    ],
)
def test_bad_input_is_a_named_error_and_nothing_changes(
    workspace: Workspace, bad: dict[str, Path], name: str, error: type[VeneerError], words: str
):
    before = snapshot(workspace)
    with pytest.raises(error, match=words):
        workspace.import_path(bad[name])
    assert snapshot(workspace) == before


@pytest.mark.parametrize("operation", ["create", "write", "sync", "replace", "sync_dir"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_an_import_that_fails_at_any_operation_leaves_the_catalog_as_it_was(
    root: Path, adapter_paths: dict[str, Path], tmp_path: Path, operation: str, number: int
):
    """Fail the first, second, third ... call of an operation until the import gets through."""
    fresh = tmp_path / "fresh"
    shutil.copytree(adapter_paths["terse"], fresh)
    config = fresh / "adapter_config.json"
    config.write_text(config.read_text() + "\n\n")
    failures = 0
    for nth in range(1, 50):
        fs = FaultyFs(operation, 1_000_000, number)
        with Workspace.open(root, fs=fs) as workspace:
            before = snapshot(workspace)[:2]
            fs._calls, fs._nth = 0, nth
            try:
                workspace.import_path(fresh)
            except VeneerError as error:
                failures += 1
                assert isinstance(error, DiskFull) == (number == errno.ENOSPC)
                assert snapshot(workspace)[:2] == before
                assert list((root / "tmp").iterdir()) == []
            else:
                break
    assert failures >= 3
    with Workspace.open(root) as workspace:
        workspace.custody.verify_adapter(workspace.library.find_adapter("fresh"), thorough=True)


def test_a_cancelled_import_leaves_nothing(workspace: Workspace, base_path: Path):
    cancel, before = CancelToken(), snapshot(workspace)
    with pytest.raises(Cancelled):
        workspace.import_path(
            base_path, copy=True, progress=lambda done, total: cancel.cancel(), cancel=cancel
        )
    assert snapshot(workspace) == before


def test_progress_counts_to_the_end(tmp_path: Path, base_path: Path):
    seen: list[tuple[int, int]] = []
    with Workspace.open(tmp_path) as workspace:
        workspace.import_path(base_path, progress=lambda d, t: seen.append((d, t)))
    size = base_path.stat().st_size
    assert seen[-1] == (size, size)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_a_base_that_is_still_being_written_is_refused(tmp_path: Path, base_path: Path):
    growing = tmp_path / "growing.gguf"
    shutil.copy(base_path, growing)

    def write_more(done: int, total: int) -> None:
        if growing.stat().st_size == total:
            with growing.open("ab") as more:
                more.write(b"\0")

    with Workspace.open(tmp_path / "ws") as workspace:
        with pytest.raises(Damaged, match="was being written"):
            workspace.import_path(growing, progress=write_more)
        assert workspace.library.bases() == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path):
    pipe = tmp_path / "model.gguf"
    os.mkfifo(pipe)
    with (
        Workspace.open(tmp_path / "ws") as workspace,
        pytest.raises(FormatError, match="a device or a pipe, not a file"),
    ):
        workspace.import_path(pipe)


def test_a_tokenizer_beside_an_adapter_is_looked_at_and_not_kept(
    tmp_path: Path, workspace: Workspace
):
    plain = workspace.library.find_adapter("pirate")
    source = Path(__file__).parents[3] / "resources" / "demo" / "adapters" / "pirate"
    folder = tmp_path / "with tokenizer"
    shutil.copytree(source, folder)
    vocab = {f"x{i}": i for i in range(1000)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocab}}))
    again = workspace.import_path(folder).value
    assert (again.id, again.already) == (plain.digest, True)
    workspace.library.forget_adapter(plain.digest)
    workspace.import_path(folder, name="foreign")
    report = workspace.check("foreign", "smol")
    assert [problem.code for problem in report.problems] == ["TOKENIZER"]
    assert workspace.library.find_adapter("foreign").adapter.vocabulary == 1000


def test_a_chat_template_beside_an_adapter_is_remarked_on_if_it_is_another(
    tmp_path: Path, workspace: Workspace, adapter_paths: dict[str, Path]
):
    folder = tmp_path / "trained"
    shutil.copytree(adapter_paths["pirate"], folder)
    own = workspace.library.find_base("smol").base.chat_template or ""
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    workspace.library.forget_adapter(workspace.library.find_adapter("pirate").digest)
    stored = workspace.library.find_adapter(workspace.import_path(folder).value.id)
    assert stored.adapter.chat_template == "{{ messages }}"
    assert stored.files.keys() == {"adapter_config.json", "adapter_model.safetensors"}
    report = workspace.check("trained", "smol")
    assert (report.ok, report.fit, len(report.remarks)) == (True, "named", 1)
    assert report.remarks[0].startswith("It came with another chat template than this base has.")

    # The newer place counts before the older one.
    (folder / "chat_template.jinja").write_text(f"  {own}\n")
    workspace.library.forget_adapter(stored.digest)
    workspace.import_path(folder)
    assert workspace.check(stored.digest, "smol").remarks == ()
