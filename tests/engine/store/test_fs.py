import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from veneer.errors import DiskFull, NotFound, StoreError
from veneer.store.fs import RealFs, translated


def test_a_new_file_is_its_owner_s_alone(tmp_path: Path):
    with RealFs().create(tmp_path / "new") as file:
        file.write(b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_creating_over_something_is_refused(tmp_path: Path):
    (tmp_path / "old").write_bytes(b"kept")
    with pytest.raises(StoreError, match="old"):
        RealFs().create(tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"kept"


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="nowhere"):
        RealFs().open_read(tmp_path / "nowhere")


def test_a_really_full_disk_is_called_full():
    fs = RealFs()
    with fs.open_append(Path("/dev/full")) as file, pytest.raises(DiskFull, match="full"):
        fs.write(file, b"x")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("read", [lambda f: f.read(), lambda f: f.readinto(bytearray(9))])
def test_a_failure_in_the_middle_of_reading_names_the_file(read: Callable[[BinaryIO], object]):
    # Nothing is mapped at address 0, so reading there is an input/output error.
    with (
        RealFs().open_read(Path("/proc/self/mem")) as file,
        pytest.raises(StoreError, match=r"Could not read /proc/self/mem: Input/output error\."),
    ):
        read(file)


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EROFS])
def test_other_failures_say_what_was_tried_and_why(number: int, tmp_path: Path):
    sentence = os.strerror(number)
    with (
        pytest.raises(StoreError, match=f"Could not save .*: {sentence}"),
        translated("save", tmp_path),
    ):
        raise OSError(number, sentence)


def test_replace_is_a_rename(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"new")
    (tmp_path / "b").write_bytes(b"old")
    RealFs().replace(tmp_path / "a", tmp_path / "b")
    assert [p.name for p in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b").read_bytes() == b"new"


def test_stat_tells_a_changed_file_from_an_unchanged_one(tmp_path: Path):
    fs, path = RealFs(), tmp_path / "f"
    path.write_bytes(b"one")
    before = fs.stat(path)
    assert before is not None
    assert (before.size, before.is_file, before.is_dir) == (3, True, False)
    assert fs.stat(path) == before
    os.utime(path, ns=(1, 1))
    after = fs.stat(path)
    assert after is not None
    assert after.key != before.key


def test_stat_of_nothing_is_none(tmp_path: Path):
    assert RealFs().stat(tmp_path / "nothing") is None
    (tmp_path / "file").touch()
    assert RealFs().stat(tmp_path / "file" / "below") is None
