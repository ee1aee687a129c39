import stat
import sys
from pathlib import Path

import pytest

from tests.engine.faults import FaultyFs
from veneer.identity import PREFIX, Digest
from veneer.runtime.kvfolder import KvFolder
from veneer.runtime.sequences import Snapshot
from veneer.store.fs import RealFs

X, Y = (Digest(PREFIX + digit * 64) for digit in "ab")
STATE = Snapshot((1, 2, 3), b"state" * 100)
NEXT = (1, 2, 3, 4)


@pytest.fixture
def folder(tmp_path: Path) -> KvFolder:
    return KvFolder(RealFs(), tmp_path, 10_000)


def test_what_is_not_its_own_stays(tmp_path: Path):
    mine, half, other = (tmp_path / name for name in ("a-b.kv", "x.part", "thesis.txt"))
    for path in (mine, half, other):
        path.write_bytes(b"x" * 100)
    KvFolder(RealFs(), tmp_path, 0)
    assert [*tmp_path.iterdir()] == [other]


def test_a_sequence_comes_back_for_its_own_execution_and_tokens_only(folder: KvFolder):
    folder.keep(X, STATE)
    assert folder.longest_prefix(X, NEXT) == STATE
    assert folder.longest_prefix(Y, NEXT) is None
    assert folder.longest_prefix(X, (1, 2, 9, 4)) is None
    assert folder.longest_prefix(X, (1, 2, 3)) is None


def test_the_longest_that_fits_is_found(folder: KvFolder):
    folder.keep(X, Snapshot((1,), b"short"))
    folder.keep(X, STATE)
    folder.keep(X, Snapshot((1, 2, 3, 5), b"other"))
    assert folder.longest_prefix(X, NEXT) == STATE


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_files_are_the_owner_s_alone(folder: KvFolder, tmp_path: Path):
    folder.keep(X, STATE)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("at", [0, 6, -1], ids=["length", "header", "state"])
def test_a_damaged_file_is_removed_and_not_used(folder: KvFolder, tmp_path: Path, at: int):
    folder.keep(X, STATE)
    (file,) = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    data[at] ^= 0xFF
    file.write_bytes(data)
    assert folder.longest_prefix(X, NEXT) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_moved_to_another_execution_s_name_is_not_used(folder: KvFolder, tmp_path: Path):
    folder.keep(X, STATE)
    (file,) = tmp_path.iterdir()
    file.rename(file.with_name(file.name.replace("a" * 32, "b" * 32)))
    assert folder.longest_prefix(Y, NEXT) is None


def test_the_budget_holds_and_zero_empties_the_folder(tmp_path: Path):
    folder = KvFolder(RealFs(), tmp_path, 1500)
    for number in range(5):
        folder.keep(X, Snapshot((number,), bytes(500)))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 1500
    assert folder.longest_prefix(X, (4, 1)) is not None
    assert folder.longest_prefix(X, (0, 1)) is None
    KvFolder(RealFs(), tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


def test_what_was_left_half_written_goes_at_the_next_opening(tmp_path: Path):
    (tmp_path / "0123.part").write_bytes(b"half")
    KvFolder(RealFs(), tmp_path, 10_000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("operation", ["create", "write", "replace"])
def test_a_disk_that_refuses_costs_nothing_but_speed(tmp_path: Path, operation: str):
    fs = FaultyFs(operation, 1)
    folder = KvFolder(fs, tmp_path, 10_000)
    folder.keep(X, STATE)
    assert fs.reached
    assert folder.longest_prefix(X, NEXT) is None
    assert list(tmp_path.iterdir()) == []
