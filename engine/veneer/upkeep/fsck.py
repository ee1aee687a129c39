"""The check of a whole workspace, and the repair of what can be repaired with certainty.

Order: the database's own file -> objects -> bases and adapters -> manifests and compositions ->
files that were left -> who may look in. Each finding is repaired before the next check, so that a
later one sees the workspace as it is then. Nothing is deleted: what is damaged is kept aside.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from veneer.errors import VeneerError
from veneer.store.database import Database
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.tasks import CancelToken, Progress, silent
from veneer.upkeep.entries import Compositions, Entries
from veneer.upkeep.hashing import Hashing, ObjectFiles
from veneer.upkeep.report import Finding, Found, FsckReport

_OTHERS = 0o077


@dataclass(frozen=True)
class Fsck:
    """Checks one workspace, which must be open for writing."""

    fs: Fs
    layout: Layout
    database: Database
    objects: ObjectFiles
    entries: Entries
    compositions: Compositions

    def run(
        self, *, repair: bool, progress: Progress = silent, cancel: CancelToken | None = None
    ) -> FsckReport:
        """Look at everything; `progress` is in bytes. Raises `Cancelled`, `StoreError`."""
        cancel = cancel or CancelToken()
        hashing = Hashing(self.fs, self.layout, cancel)
        found = self._everything(hashing, progress)
        findings = tuple(_repaired(each) if repair else each.finding for each in found)
        return FsckReport(
            objects=hashing.objects,
            bytes=hashing.bytes,
            manifests=len(self.compositions.manifests()),
            findings=findings,
        )

    def _everything(self, hashing: Hashing, progress: Progress) -> Iterator[Found]:
        yield from self._catalog()
        yield from self.objects.check(hashing, progress)
        yield from self.entries.check(hashing)
        yield from self.compositions.check()
        yield from self._left_behind()
        yield from self._permissions()

    def _catalog(self) -> Iterator[Found]:
        for problem in self.database.problems():
            message = f"{problem}. Close Veneer, then run “veneer fsck --repair”."
            yield Found(Finding(code="CATALOG", where=self.layout.database.name, message=message))

    def _left_behind(self) -> Iterator[Found]:
        for name in self.fs.list_dir(self.layout.tmp):
            message = "It is being written, or goes when the workspace is opened."
            yield Found(Finding(code="TEMPORARY", where=f"tmp/{name}", message=message))

    def _permissions(self) -> Iterator[Found]:
        found = self.fs.stat(self.layout.root)
        if sys.platform != "win32" and found is not None and found.mode & _OTHERS:
            message = "Other users of this computer may look into the workspace."
            where = str(self.layout.root)
            yield Found(Finding(code="PERMISSIONS", where=where, message=message), self._restrict)

    def _restrict(self) -> str:
        self.fs.restrict_dir(self.layout.root)
        return "closed to all but the owner"


def _repaired(found: Found) -> Finding:
    if found.repair is None:
        return found.finding
    try:
        return msgspec.structs.replace(found.finding, repair=found.repair())
    except VeneerError as error:
        message = f"{found.finding.message} It could not be repaired: {error.message}"
        return msgspec.structs.replace(found.finding, message=message)
