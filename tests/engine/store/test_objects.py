import hashlib
from pathlib import Path

import pytest

from tests.engine.faults import FaultyFs
from veneer.errors import Cancelled, Damaged, VeneerError
from veneer.identity import Digest
from veneer.store.fs import Fs, RealFs
from veneer.store.layout import Layout
from veneer.store.objects import Objects
from veneer.tasks import CancelToken

DATA = b"adapter" * 400_000


def store(tmp_path: Path, fs: Fs | None = None) -> tuple[Objects, Layout]:
    layout = Layout(tmp_path)
    for directory in layout.directories:
        directory.mkdir(exist_ok=True)
    return Objects(fs or RealFs(), layout), layout


def files_under(path: Path) -> list[Path]:
    return [p for p in path.rglob("*") if p.is_file()]


def test_what_is_received_and_published_can_be_opened_by_its_digest(tmp_path: Path):
    objects, layout = store(tmp_path)
    with objects.receive([DATA], len(DATA)) as received:
        assert not objects.has(received.digest)
        received.publish()
    assert received.digest == "sha256:" + hashlib.sha256(DATA).hexdigest()
    assert received.size == len(DATA)
    with objects.open(received.digest) as file:
        assert file.read() == DATA
    assert files_under(layout.tmp) == []


def test_what_is_not_published_leaves_nothing(tmp_path: Path):
    objects, layout = store(tmp_path)
    with objects.receive([DATA], len(DATA)) as received, received.open() as file:
        assert file.read() == DATA
    assert files_under(layout.root) == []


def test_a_missing_object_is_damage(tmp_path: Path):
    objects, _ = store(tmp_path)
    with pytest.raises(Damaged, match="missing"):
        objects.open(Digest("sha256:" + "0" * 64))


def test_publishing_again_heals_a_damaged_object(tmp_path: Path):
    objects, _ = store(tmp_path)
    digest = objects.add_bytes(DATA)
    objects.path(digest).write_bytes(b"rotten")
    assert objects.add_bytes(DATA) == digest
    assert objects.path(digest).read_bytes() == DATA


def test_cancelling_leaves_nothing(tmp_path: Path):
    objects, layout = store(tmp_path)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        objects.receive([DATA, DATA], len(DATA), lambda done, total: cancel.cancel(), cancel)
    assert files_under(layout.root) == []


@pytest.mark.parametrize("operation", ["create", "write", "sync", "replace", "sync_dir"])
def test_any_failing_step_leaves_no_temporary_file(operation: str, tmp_path: Path):
    fs = FaultyFs(operation, 1)
    objects, layout = store(tmp_path, fs)
    with pytest.raises(VeneerError):
        objects.add_bytes(DATA)
    assert fs.reached
    assert files_under(layout.tmp) == []
    whole = [p.read_bytes() == DATA for p in files_under(layout.objects)]
    assert all(whole)
