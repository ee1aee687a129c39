"""A file being written: nowhere visible until it is complete and durable.

Order: created under `tmp/` with a random name -> written -> synced -> renamed into place -> the
directory synced. Leaving the `with` block before `publish` removes it, whatever went wrong.
"""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from veneer.errors import VeneerError
from veneer.store.fs import Fs


class Draft:
    """Use as a context manager; write to `file` (or through `write`), then `publish`."""

    def __init__(self, fs: Fs, tmp: Path) -> None:
        self._fs = fs
        self.path = tmp / f"{secrets.token_hex(16)}.part"
        self.file: BinaryIO = fs.create(self.path)
        self._published = False

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self._fs.write(self.file, data)

    def publish(self, target: Path) -> None:
        """Make the file durable under its final name. Replaces what is there."""
        self._fs.sync(self.file)
        self.file.close()
        self._fs.make_dirs(target.parent)
        self._fs.replace(self.path, target)
        self._published = True
        self._fs.sync_dir(target.parent)

    def flush(self) -> None:
        """Hand what was written to the operating system, so that it can be read back."""
        self.file.flush()

    def discard(self) -> None:
        """Remove the file unless it was published."""
        # A full disk makes close() itself fail while it flushes; the removal must still happen.
        with suppress(VeneerError):
            self.file.close()
        if not self._published:
            with suppress(VeneerError):
                self._fs.unlink(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()
