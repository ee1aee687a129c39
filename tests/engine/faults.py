"""File systems that watch, or fail, on purpose."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from veneer.store.fs import FileStat, RawFile, RealFs, translated


@dataclass(frozen=True)
class Call:
    """One operation, and what it is done to."""

    operation: str
    path: Path


class ShortWriteError(OSError):
    """Half of what is being written arrives, and then no more."""


Watch = Callable[[Call], None]


class WatchedFs(RealFs):
    """Tells `before` of every operation ahead of it, and `after` once it is done.

    Reading and writing an open file are operations too. What `before` raises happens in the
    operation's place, as if the operating system had said it.
    """

    def __init__(self, before: Watch, after: Watch = lambda call: None) -> None:
        self._before = before
        self._after = after
        watched = self._watched

        class Raw(RawFile):
            def readinto(self, buffer) -> int:
                with watched("read", Path(self.name)):
                    return super().readinto(buffer)

            def readall(self) -> bytes:
                with watched("read", Path(self.name)):
                    return super().readall()

            def write(self, data) -> int:
                try:
                    with watched("write", Path(self.name)):
                        return super().write(data)
                except ShortWriteError as short:
                    super().write(memoryview(data)[: len(data) // 2])
                    with translated("write to", Path(self.name)):
                        raise OSError(short.errno, short.strerror) from short

        self.raw = Raw

    def open_read(self, path: Path) -> BinaryIO:
        with self._watched("open_read", path):
            return super().open_read(path)

    def create(self, path: Path) -> BinaryIO:
        with self._watched("create", path):
            return super().create(path)

    def open_append(self, path: Path) -> BinaryIO:
        with self._watched("open_append", path):
            return super().open_append(path)

    def sync(self, file: BinaryIO) -> None:
        file.flush()
        with self._watched("sync", Path(file.name)):
            super().sync(file)

    def sync_dir(self, path: Path) -> None:
        with self._watched("sync_dir", path):
            super().sync_dir(path)

    def replace(self, source: Path, target: Path) -> None:
        with self._watched("replace", target):
            super().replace(source, target)

    def unlink(self, path: Path) -> None:
        with self._watched("unlink", path):
            super().unlink(path)

    def make_dirs(self, path: Path) -> None:
        with self._watched("make_dirs", path):
            super().make_dirs(path)

    def restrict_dir(self, path: Path) -> None:
        with self._watched("restrict_dir", path):
            super().restrict_dir(path)

    def list_dir(self, path: Path) -> tuple[str, ...]:
        with self._watched("list_dir", path):
            return super().list_dir(path)

    def stat(self, path: Path) -> FileStat | None:
        with self._watched("stat", path):
            return super().stat(path)

    def free_bytes(self, path: Path) -> int:
        with self._watched("free_bytes", path):
            return super().free_bytes(path)

    @contextmanager
    def _watched(self, operation: str, path: Path) -> Iterator[None]:
        call = Call(operation, path)
        try:
            self._before(call)
        except ShortWriteError:
            raise
        except OSError as error:
            with translated(operation, path):
                raise error
        yield
        self._after(call)


class FaultyFs(WatchedFs):
    """Fails the `nth` call (from 1) of one operation, once or from then on.

    `reached` tells whether the point was ever reached: a test that never got there shows nothing.
    """

    def __init__(
        self, operation: str, nth: int, number: int = errno.ENOSPC, *, persistent: bool = False
    ) -> None:
        super().__init__(self._maybe_fail)
        self._operation = operation
        self._nth = nth
        self._errno = number
        self._persistent = persistent
        self._calls = 0

    @property
    def reached(self) -> bool:
        return self._calls >= self._nth

    def _maybe_fail(self, call: Call) -> None:
        if call.operation != self._operation:
            return
        self._calls += 1
        if self._calls == self._nth or (self._persistent and self.reached):
            raise OSError(self._errno, os.strerror(self._errno))
