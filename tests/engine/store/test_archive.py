"""Adapters in archives: the same adapter as from a folder, and nothing else gets through."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.adapters import tiny
from veneer import Workspace
from veneer.errors import Cancelled, FormatError, PickleRefused, VeneerError
from veneer.tasks import CancelToken

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
FILES: dict[str, bytes] = dict(tiny.peft_files(tiny.factors()))


def zipped(path: Path, files: dict[str, bytes], **options: int) -> Path:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def inside(folder: str) -> dict[str, bytes]:
    return {f"{folder}/{name}": data for name, data in FILES.items()}


@pytest.fixture
def open_workspace(tmp_path: Path):
    with Workspace.open(tmp_path / "ws") as opened:
        yield opened


def refused(workspace: Workspace, path: Path, kind: type[VeneerError] = FormatError) -> str:
    """The sentence of a refusal after which nothing is left behind."""
    with pytest.raises(kind) as caught:
        workspace.import_path(path)
    assert workspace.library.adapters() == ()
    kept = [p for d in ("objects", "tmp") for p in (workspace.root / d).rglob("*") if p.is_file()]
    assert kept == []
    return caught.value.message


@pytest.mark.parametrize(
    "make",
    [
        lambda path: zipped(path / "a.zip", inside("style")),
        lambda path: zipped(path / "a.zip", inside("style"), compression=zipfile.ZIP_DEFLATED),
        lambda path: tarred(path / "a.tar.gz", inside("deep/er/style")),
        lambda path: tarred(path / "a.tgz", inside("style") | {"README.md": b"hello"}),
        lambda path: tarred(path / "a.tar", inside("style"), "w"),
        lambda path: zipped(path / "style.zip", FILES),
    ],
)
def test_an_archive_is_the_adapter_in_it(
    make: Callable[[Path], Path], tmp_path: Path, open_workspace: Workspace
):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    first = open_workspace.import_path(make(tmp_path)).value
    assert (first.kind, first.name, first.already) == ("adapter", "style", False)
    again = open_workspace.import_path(folder).value
    assert (again.id, again.already) == (first.id, True)


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_tokenizer_beside_the_adapter_is_looked_at(
    make: Callable[..., Path], tmp_path: Path, open_workspace: Workspace
):
    tokenizer = b'{"model": {"vocab": {"a": 0, "b": 7}}}'
    beside = {"tokenizer.json": tokenizer, "tokenizer_config.json": b'{"chat_template": "C"}'}
    files = inside("style") | {"other/tokenizer.json": b"{}"}
    files |= {f"style/{name}": data for name, data in beside.items()}
    done = open_workspace.import_path(make(tmp_path / "archive", files)).value
    stored = open_workspace.library.adapter(done.id)
    assert (stored.adapter.vocabulary, stored.adapter.tokens[0]) == (8, "a")
    assert stored.adapter.chat_template == "C"
    assert stored.files.keys() == FILES.keys()


def test_a_gguf_adapter_in_an_archive(tmp_path: Path, open_workspace: Workspace):
    pairs = {tiny.gguf_name(module): pair for module, pair in tiny.factors().items()}
    ((_, data),) = tiny.lora_file(pairs).items()
    done = open_workspace.import_path(zipped(tmp_path / "x.zip", {"lora/style.gguf": data})).value
    assert done.kind == "adapter"


def test_a_base_in_an_archive_is_not_taken_for_an_adapter(
    tmp_path: Path, open_workspace: Workspace
):
    refused(open_workspace, zipped(tmp_path / "x.zip", {"base.gguf": tiny.base_bytes()}))


def test_two_adapters_are_named(tmp_path: Path, open_workspace: Workspace):
    said = refused(open_workspace, zipped(tmp_path / "x.zip", inside("one") | inside("two")))
    assert said == "There are 2 adapters in x.zip: one, two. Unpack it first."


def test_an_archive_without_an_adapter(tmp_path: Path, open_workspace: Workspace):
    said = refused(open_workspace, zipped(tmp_path / "x.zip", {"notes.txt": b"hi"}))
    assert said.startswith("There is no adapter in x.zip. A base is a .gguf file. An adapter is")


@pytest.mark.parametrize("name", ["archive/data.pkl", "adapter_model.bin"])
def test_pickles_in_archives(name: str, tmp_path: Path, open_workspace: Workspace):
    archive = zipped(tmp_path / "x.zip", {CONFIG: FILES[CONFIG], name: b"\x80\x04"})
    assert "pickle" in refused(open_workspace, archive, PickleRefused)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../up", "a/../../b", "c:evil", "back\\slash", "line\nbreak"]
)
def test_names_that_lead_elsewhere(name: str, tmp_path: Path, open_workspace: Workspace):
    archive = tarred(tmp_path / "x.tar", FILES | {name: b""}, "w")
    assert "a member with the name" in refused(open_workspace, archive)


def test_two_members_of_one_name(tmp_path: Path, open_workspace: Workspace):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for _ in range(2):
            info = tarfile.TarInfo(CONFIG)
            info.size = len(FILES[CONFIG])
            archive.addfile(info, io.BytesIO(FILES[CONFIG]))
    assert "two members of one name" in refused(open_workspace, path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar(kind: bytes, tmp_path: Path, open_workspace: Workspace):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(WEIGHTS)
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert "a link or device" in refused(open_workspace, path)


def test_a_link_in_a_zip(tmp_path: Path, open_workspace: Workspace):
    info = zipfile.ZipInfo(WEIGHTS)
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert "a link or device" in refused(open_workspace, tmp_path / "x.zip")


def test_an_encrypted_zip(tmp_path: Path, open_workspace: Workspace):
    path = zipped(tmp_path / "x.zip", FILES)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 8] |= 1
    path.write_bytes(data)
    assert "encrypted" in refused(open_workspace, path)


def test_unusual_compression(tmp_path: Path, open_workspace: Workspace):
    path = zipped(tmp_path / "x.zip", FILES, compression=zipfile.ZIP_LZMA)
    assert "in an unusual way" in refused(open_workspace, path)


def test_a_bomb_in_a_zip(tmp_path: Path, open_workspace: Workspace):
    bomb = {CONFIG: FILES[CONFIG], WEIGHTS: bytes(80 << 20)}
    path = zipped(tmp_path / "x.zip", bomb, compression=zipfile.ZIP_DEFLATED)
    assert "far more" in refused(open_workspace, path)


def test_a_bomb_in_a_tar(tmp_path: Path, open_workspace: Workspace):
    path = tarred(tmp_path / "x.tar.gz", {CONFIG: FILES[CONFIG], WEIGHTS: bytes(80 << 20)})
    assert "far more" in refused(open_workspace, path)


def test_a_tar_header_that_claims_to_be_enormous(tmp_path: Path, open_workspace: Workspace):
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 16)))
    assert "absurd length" in refused(open_workspace, path)


@pytest.mark.parametrize("keep", [30, 200, -40])
@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
def test_archives_that_are_cut_short(
    name: str, keep: int, tmp_path: Path, open_workspace: Workspace
):
    make = zipped if name.endswith("zip") else tarred
    path = make(tmp_path / name, FILES)
    path.write_bytes(path.read_bytes()[:keep])
    refused(open_workspace, path)


def test_a_zip_whose_member_is_not_what_its_checksum_says(
    tmp_path: Path, open_workspace: Workspace
):
    path = zipped(tmp_path / "x.zip", FILES)
    data = bytearray(path.read_bytes())
    at = data.index(FILES[WEIGHTS][-16:])
    data[at] ^= 1
    path.write_bytes(data)
    assert "is broken" in refused(open_workspace, path)


def test_a_zip_that_lies_about_a_size(tmp_path: Path, open_workspace: Workspace):
    path = zipped(tmp_path / "x.zip", FILES)
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", len(FILES[WEIGHTS]) - 8)
    path.write_bytes(data)
    refused(open_workspace, path)


def test_cancelled_in_the_middle(tmp_path: Path, open_workspace: Workspace):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        open_workspace.import_path(zipped(tmp_path / "x.zip", FILES), cancel=token)
    assert open_workspace.library.adapters() == ()
