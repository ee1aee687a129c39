"""The only door to the file system.

Every file the engine reads or writes goes through an `Fs`, so that tests can record, refuse or
cut off any single operation. `RealFs` is the one used outside tests. An `OSError` never leaves
here, nor a file that was opened here: it becomes a `StoreError` (or `DiskFull`, `NotFound`) that
names the path and what was tried.
"""

import errno
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Protocol

import psutil

from veneer.errors import DiskFull, NotFound, StoreError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_FULL = {errno.ENOSPC, errno.EDQUOT}
_BUFFER = 1 << 20
"""Bytes. A form of a thousand small tensors is then written in a few calls."""
_SYNC_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.ENOTTY}


@dataclass(frozen=True)
class FileStat:
    """What identifies one state of one file without reading it. Times in nanoseconds.

    `mode` is who may do what, in the bits of POSIX; they tell nothing on Windows.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    is_file: bool
    is_dir: bool
    mode: int

    @property
    def key(self) -> str:
        """Changes whenever the file could have changed."""
        return f"{self.device}:{self.inode}:{self.size}:{self.mtime_ns}:{self.ctime_ns}"


class Fs(Protocol):
    """The operations the engine needs; each raises `StoreError` and its kin, never `OSError`."""

    def open_read(self, path: Path) -> BinaryIO: ...
    def create(self, path: Path) -> BinaryIO: ...
    def open_append(self, path: Path) -> BinaryIO: ...
    def write(self, file: BinaryIO, data: bytes | memoryview) -> None: ...
    def sync(self, file: BinaryIO) -> None: ...
    def sync_dir(self, path: Path) -> None: ...
    def replace(self, source: Path, target: Path) -> None: ...
    def unlink(self, path: Path) -> None: ...
    def make_dirs(self, path: Path) -> None: ...
    def restrict_dir(self, path: Path) -> None: ...
    def list_dir(self, path: Path) -> tuple[str, ...]: ...
    def stat(self, path: Path) -> FileStat | None: ...
    def free_bytes(self, path: Path) -> int: ...


@contextmanager
def translated(doing: str, path: Path | str) -> Generator[None]:
    """Turn an `OSError` into the sentence a person needs: what was tried, on what, and why not."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise DiskFull(f"The disk is full: could not {doing} {path}.") from error
        if error.errno == errno.ENOENT:
            raise NotFound(f"There is no {path}.") from error
        raise StoreError(f"Could not {doing} {path}: {reason}.") from error


class RawFile(io.FileIO):
    """An open file of which every reading and writing fails with a sentence."""

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        with translated("read", self.name):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with translated("read", self.name):
            return super().readall()

    def write(self, data: "ReadableBuffer", /) -> int:
        with translated("write to", self.name):
            return super().write(data)


class RealFs:
    """The operating system's files."""

    raw: type[RawFile] = RawFile
    """What is under the buffer of every open file."""

    def open_read(self, path: Path) -> BinaryIO:
        """Open for reading. The caller closes it."""
        with translated("read", path):
            return io.BufferedReader(self.raw(path))

    def create(self, path: Path) -> BinaryIO:
        """Create a new file, owner-only; fails if anything has that name."""
        with translated("create", path):
            return io.BufferedRandom(self.raw(path, "x+", opener=_owner_only), _BUFFER)

    def open_append(self, path: Path) -> BinaryIO:
        """Open a log for appending, unbuffered, owner-only; create it if need be."""
        with translated("write to", path):
            return self.raw(path, "a", opener=_owner_only)

    def write(self, file: BinaryIO, data: bytes | memoryview) -> None:
        """Write all of `data` at the current position."""
        file.write(data)

    def sync(self, file: BinaryIO) -> None:
        """Make the bytes durable. A failure is final for this file: never sync it again."""
        with translated("save", Path(file.name)):
            file.flush()
            _sync_descriptor(file.fileno())

    def sync_dir(self, path: Path) -> None:
        """Make the directory's names durable (POSIX; Windows has no such call)."""
        if sys.platform == "win32":
            return
        with translated("save", path):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                _sync_descriptor(descriptor)
            finally:
                os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Rename over whatever is there, atomically."""
        with translated("put in place", target):
            source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file; it is no error if it is gone already."""
        with translated("remove", path):
            path.unlink(missing_ok=True)

    def make_dirs(self, path: Path) -> None:
        """Create a directory and its parents, owner-only, and make their names durable."""
        missing = [p for p in (path, *path.parents) if not p.exists()]
        with translated("create", path):
            for directory in reversed(missing):
                directory.mkdir(mode=0o700, exist_ok=True)
                self.sync_dir(directory.parent)

    def restrict_dir(self, path: Path) -> None:
        """Let nobody but the owner into a directory."""
        with translated("restrict", path):
            path.chmod(0o700)

    def list_dir(self, path: Path) -> tuple[str, ...]:
        """The names in a directory, sorted."""
        with translated("list", path):
            return tuple(sorted(entry.name for entry in path.iterdir()))

    def stat(self, path: Path) -> FileStat | None:
        """The state of what `path` leads to, or None if nothing is there."""
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"Could not look at {path}: {error.strerror}.") from error
        return FileStat(
            device=found.st_dev,
            inode=found.st_ino,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            ctime_ns=found.st_ctime_ns,
            is_file=S_ISREG(found.st_mode),
            is_dir=S_ISDIR(found.st_mode),
            mode=S_IMODE(found.st_mode),
        )

    def free_bytes(self, path: Path) -> int:
        """Free space for this user on the file system that holds `path`."""
        with translated("look at", path):
            return int(psutil.disk_usage(str(path)).free)


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_descriptor(descriptor: int) -> None:
    try:
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _SYNC_UNSUPPORTED:
            raise
