"""A file system that fails on purpose."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from veneer.store.fs import RealFs, translated


class FaultyFs(RealFs):
    """Fails the `nth` call (from 1) of one operation, once or from then on.

    `reached` tells whether the point was ever reached: a test that never got there shows nothing.
    """

    def __init__(
        self, operation: str, nth: int, number: int = errno.ENOSPC, *, persistent: bool = False
    ) -> None:
        self._operation = operation
        self._nth = nth
        self._errno = number
        self._persistent = persistent
        self._calls = 0

    @property
    def reached(self) -> bool:
        return self._calls >= self._nth

    def _maybe_fail(self, operation: str, path: Path) -> None:
        if operation != self._operation:
            return
        self._calls += 1
        if self._calls == self._nth or (self._persistent and self.reached):
            with translated(operation, path):
                raise OSError(self._errno, os.strerror(self._errno))

    def create(self, path: Path) -> BinaryIO:
        self._maybe_fail("create", path)
        return super().create(path)

    def write(self, file: BinaryIO, data: bytes | memoryview) -> None:
        self._maybe_fail("write", Path(file.name))
        super().write(file, data)

    def sync(self, file: BinaryIO) -> None:
        self._maybe_fail("sync", Path(file.name))
        super().sync(file)

    def replace(self, source: Path, target: Path) -> None:
        self._maybe_fail("replace", target)
        super().replace(source, target)

    def sync_dir(self, path: Path) -> None:
        self._maybe_fail("sync_dir", path)
        super().sync_dir(path)
