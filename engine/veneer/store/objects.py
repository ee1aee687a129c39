"""Immutable files named by the digest of their bytes."""

import hashlib
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Self

from veneer.errors import Damaged
from veneer.identity import PREFIX, Digest, sha256_bytes, short
from veneer.store.draft import Draft
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.tasks import CancelToken, Progress, silent

_CHUNK = 1 << 20


class Objects:
    """Adds and opens objects. Adding what is there already verifies it, and heals it if damaged."""

    def __init__(self, fs: Fs, layout: Layout) -> None:
        self._fs = fs
        self._layout = layout
        self.naming = threading.RLock()
        """Held from publishing objects until a row names them, and while unnamed ones are told
        from others and removed."""

    def path(self, digest: Digest) -> Path:
        """Where the object lies, or would lie."""
        return self._layout.object(digest)

    def has(self, digest: Digest) -> bool:
        """Whether a file of that name is there (its bytes are not looked at)."""
        return self._fs.stat(self.path(digest)) is not None

    def files(self) -> Iterator[Path]:
        """Every file under `objects/`, whatever it is called."""
        for name in self._fs.list_dir(self._layout.objects):
            shelf = self._layout.objects / name
            found = self._fs.stat(shelf)
            if found is not None and found.is_dir:
                yield from (shelf / each for each in self._fs.list_dir(shelf))
            else:
                yield shelf

    def open(self, digest: Digest) -> BinaryIO:
        """Open an object for reading. Raises `Damaged` if it is missing."""
        if not self.has(digest):
            raise Damaged(f"The object {short(digest)} is missing from the workspace.")
        return self._fs.open_read(self.path(digest))

    def receive(
        self,
        chunks: Iterable[bytes],
        size: int,
        progress: Progress = silent,
        cancel: CancelToken | None = None,
    ) -> "Received":
        """Write bytes beside the objects, about `size` of them, hashing on the way.

        Nothing is an object until `Received.publish`; leaving its `with` block before that undoes
        the copy. Raises `DiskFull`, `StoreError`, `Cancelled`.
        """
        draft, hasher, done = Draft(self._fs, self._layout.tmp), hashlib.sha256(), 0
        try:
            for chunk in chunks:
                if cancel is not None:
                    cancel.check()
                hasher.update(chunk)
                draft.write(chunk)
                done += len(chunk)
                progress(done, size)
            draft.flush()
        except BaseException:
            draft.discard()
            raise
        return Received(self, draft, Digest(PREFIX + hasher.hexdigest()), done)

    def add_bytes(self, data: bytes) -> Digest:
        """Store bytes that are in memory."""
        digest = sha256_bytes(data)
        with Draft(self._fs, self._layout.tmp) as draft:
            draft.write(data)
            draft.publish(self.path(digest))
        return digest

    def open_draft(self, draft: Draft) -> BinaryIO:
        """Read back what has been received so far."""
        return self._fs.open_read(draft.path)

    def remove(self, digest: Digest) -> None:
        """Remove an object that no row names any more."""
        self._fs.unlink(self.path(digest))


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """What is left of an open file, bit by bit."""
    while chunk := file.read(_CHUNK):
        yield chunk


class Received:
    """A copied file that is not an object yet. Use as a context manager."""

    def __init__(self, objects: Objects, draft: Draft, digest: Digest, size: int) -> None:
        self._objects = objects
        self._draft = draft
        self.digest = digest
        self.size = size

    def open(self) -> BinaryIO:
        """Read the copy. The caller closes it."""
        return self._objects.open_draft(self._draft)

    def publish(self) -> Path:
        """Make it an object. Replaces what lies there, which heals a damaged one."""
        target = self._objects.path(self.digest)
        self._draft.publish(target)
        return target

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._draft.discard()
