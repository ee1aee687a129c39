"""Does every object have the digest that names it?"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from veneer.errors import NotFound, StoreError
from veneer.identity import Digest, sha256_file, short
from veneer.store.custody import Custody, needed_sentence
from veneer.store.fs import Fs, translated
from veneer.store.layout import Layout
from veneer.store.objects import Objects
from veneer.store.quarantine import Quarantine
from veneer.tasks import CancelToken, Progress, part_of, silent
from veneer.upkeep.report import Code, Finding, Found


class Problem(NamedTuple):
    """What is wrong with an object, as a sentence."""

    code: Code
    message: str


class Hashing:
    """Hashes each object once. `objects` and `bytes` count what was hashed."""

    def __init__(self, fs: Fs, layout: Layout, cancel: CancelToken) -> None:
        self._fs = fs
        self._layout = layout
        self._problems: dict[Digest, Problem | None] = {}
        self.cancel = cancel
        self.bytes = 0

    @property
    def objects(self) -> int:
        """How many were hashed."""
        return len(self._problems)

    def intact(self, digest: Digest) -> bool:
        """Whether the object is there and its bytes are right. Raises `Cancelled`."""
        there = self._fs.stat(self._layout.object(digest)) is not None
        return there and self.problem(digest) is None

    def problem(self, digest: Digest, progress: Progress = silent) -> Problem | None:
        """What is wrong with an object that is there. Raises `Cancelled`."""
        if digest not in self._problems:
            self._problems[digest] = self._hash(digest, progress)
        return self._problems[digest]

    def forget(self, digest: Digest) -> None:
        """Hash it again when it is asked about: it was repaired."""
        self._problems.pop(digest, None)

    def _hash(self, digest: Digest, progress: Progress) -> Problem | None:
        path = self._layout.object(digest)
        try:
            with self._fs.open_read(path) as file, translated("read", path):
                actual = sha256_file(file, 0, progress, self.cancel)
                self.bytes += file.tell()
        except NotFound:
            # Collected while it was about to be looked at.
            return None
        except StoreError as error:
            return Problem("OBJECT_UNREADABLE", error.message)
        if actual == digest:
            return None
        return Problem("OBJECT_DAMAGED", f"Its bytes hash to {short(actual)}.")


class ObjectFiles:
    """Looks at every file under `objects/`."""

    def __init__(
        self,
        fs: Fs,
        layout: Layout,
        objects: Objects,
        custody: Custody,
        quarantine: Quarantine,
    ) -> None:
        self._fs = fs
        self._layout = layout
        self._objects = objects
        self._custody = custody
        self._quarantine = quarantine

    def check(self, hashing: Hashing, progress: Progress) -> Iterator[Found]:
        """Every object hashes to its name, and there is nothing else. Raises `Cancelled`."""
        paths = list(self._objects.files())
        total = sum(found.size for path in paths if (found := self._fs.stat(path)) is not None)
        for path in paths:
            digest, before = self._layout.object_at(path), hashing.bytes
            if digest is None:
                yield self._found("STRAY", path, "Veneer did not put it there.")
                continue
            problem = hashing.problem(digest, part_of(progress, before, total))
            if problem is not None:
                needed = needed_sentence(self._custody.needed_by(digest))
                yield self._found(problem.code, path, f"{problem.message}{needed}")

    def _found(self, code: Code, path: Path, message: str) -> Found:
        where = path.relative_to(self._layout.root).as_posix()
        finding = Finding(code=code, where=where, message=message)
        if code == "OBJECT_UNREADABLE":
            # It may be readable tomorrow.
            return Found(finding)
        return Found(finding, lambda: f"kept as {self._quarantine.take(path)}")
