"""Adapters in .zip, .tar and .tar.gz files: chosen members are streamed, nothing is unpacked.

Order: which kind of archive, by its content -> every member's name and size looked at, and the
whole archive refused for one that has no business there -> the members that an adapter is made
of, as doors. The names inside never become paths.
"""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Final, cast

from veneer.errors import FormatError, PickleRefused
from veneer.store.fs import Fs
from veneer.store.streamed import Streamed

_ZIP_MAGIC: Final = b"PK\x03\x04"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_TAR_MAGIC: Final = (257, b"ustar")
_MEMBERS_MAX: Final = 10_000
_NAME_MAX: Final = 1_024
_READ_MAX: Final = 16 << 20
"""More than is ever asked for at once, except by a header that claims to be enormous."""
_CHUNK: Final = 1 << 20
_RATIO_MAX: Final = 100
_RATIO_FREE: Final = 64 << 20
"""Bytes below which it does not matter how well something was compressed."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN: Final = (
    zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Member(Streamed):
    """One regular file in an archive."""

    fs: Fs
    archive: Path

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Read it from its start, forwards only. Raises `FormatError` where it is broken."""
        return _opened(self)


def is_archive(file: BinaryIO) -> bool:
    """Whether an open file is an archive that `members` can read. Leaves it anywhere."""
    file.seek(0)
    start = file.read(_TAR_MAGIC[0] + len(_TAR_MAGIC[1]))
    return start.startswith((_ZIP_MAGIC, _GZIP_MAGIC)) or start.endswith(_TAR_MAGIC[1])


def members(fs: Fs, path: Path) -> tuple[Member, ...]:
    """Every regular file in an archive.

    Raises `FormatError` for an archive that is broken, encrypted, or has members that no adapter
    has (links, devices, names that lead elsewhere, two of one name), `PickleRefused` for what
    PyTorch saves as a zip.
    """
    with _broken_is_refused(path), fs.open_read(path) as file:
        found = [
            Member(name, size, fs, path)
            for name, size in (_zip_names(file) if _is_zip(file) else _tar_names(file, path))
        ]
    names = [member.name for member in found]
    if len({*names}) < len(names):
        raise FormatError("NAME", f"{path.name} has two members of one name.")
    if any(PurePosixPath(name).suffix == ".pkl" for name in names):
        raise PickleRefused(
            f"{path.name} holds a Python pickle, which can run any program when it is opened, so "
            "Veneer never opens one. Load it where it was trained and save it again with PEFT's "
            "save_pretrained(..., safe_serialization=True)."
        )
    return tuple(found)


@contextmanager
def _broken_is_refused(path: Path) -> Generator[None]:
    try:
        yield
    except _BROKEN as error:
        raise FormatError("TRUNCATED", f"The archive {path.name} is broken: {error}.") from error


@contextmanager
def _opened(member: Member) -> Generator[BinaryIO]:
    path = member.archive
    with _broken_is_refused(path), member.fs.open_read(path) as file:
        if _is_zip(file):
            with zipfile.ZipFile(file) as archive, archive.open(member.name) as stream:
                yield cast("BinaryIO", stream)
            return
        with tarfile.open(fileobj=_unpacked(file), mode="r:") as archive:
            stream = archive.extractfile(member.name)
            if stream is None:
                raise FormatError("NAME", f"{member.name} is no file any more.")
            yield cast("BinaryIO", stream)


def _is_zip(file: BinaryIO) -> bool:
    file.seek(0)
    magic = file.read(len(_ZIP_MAGIC))
    file.seek(0)
    return magic == _ZIP_MAGIC


def _zip_names(file: BinaryIO) -> Iterator[tuple[str, int]]:
    with zipfile.ZipFile(file) as archive:
        _check_count(len(archive.infolist()))
        for info in archive.infolist():
            _check_name(info.filename)
            if info.filename.endswith("/"):
                continue
            if info.flag_bits & 1:
                raise FormatError("VALUE", "The archive is encrypted; unpack it yourself.")
            if (info.external_attr >> 28) not in (0, 0o10):
                raise FormatError("VALUE", f"{info.filename} in the archive is a link or device.")
            if info.compress_type not in _METHODS:
                raise FormatError("VALUE", f"{info.filename} is compressed in an unusual way.")
            _check_ratio(info.file_size, info.compress_size)
            yield info.filename, info.file_size


def _tar_names(file: BinaryIO, path: Path) -> Iterator[tuple[str, int]]:
    packed = file.seek(0, 2)
    file.seek(0)
    total = 0
    stream = _unpacked(file)
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for count, info in enumerate(archive, 1):
            _check_count(count)
            _check_name(info.name)
            if info.isdir():
                continue
            if not info.isreg() or info.issparse():
                raise FormatError("VALUE", f"{info.name} in {path.name} is a link or device.")
            total += info.size
            _check_ratio(total, packed)
            yield info.name, info.size
    # The checksum of a gzip is at its end.
    while rest := stream.read(_CHUNK):
        total += len(rest)
        _check_ratio(total, packed)


def _check_count(count: int) -> None:
    if count > _MEMBERS_MAX:
        raise FormatError("COUNT", f"The archive has more than {_MEMBERS_MAX:,} members.")


def _check_name(name: str) -> None:
    parts = PurePosixPath(name).parts
    leads_out = name.startswith("/") or ".." in parts or ":" in name or "\\" in name
    if not name or len(name) > _NAME_MAX or leads_out or not name.isprintable():
        raise FormatError("NAME", f"The archive has a member with the name {name[:80]!r}.")


def _check_ratio(size: int, packed: int) -> None:
    if size > _RATIO_FREE and size > _RATIO_MAX * packed:
        raise FormatError("SIZE", "The archive unpacks to far more than any adapter does.")


class _Bounded:
    """A file that refuses to give enormous pieces: tarfile reads whole headers at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.close = partial(lambda: None)

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _READ_MAX:
            raise FormatError("SIZE", "The archive has a header of absurd length.")
        return self._file.read(size)


def _unpacked(file: BinaryIO) -> IO[bytes]:
    """What is inside the gzip, or the file itself, in pieces of a sane size."""
    packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    file.seek(0)
    inner = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file
    return cast("IO[bytes]", cast("Any", _Bounded(inner)))
