"""The collection of what nothing needs: find out -> plan -> carry out.

Order of carrying out: rows (marks, and records of what was removed) -> files. A crash in between
leaves files that nothing names, which the next collection finds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from veneer.errors import VeneerError
from veneer.identity import Digest
from veneer.store.candidates import Candidates
from veneer.store.catalog import Catalog
from veneer.store.changes import Changes, Outcome
from veneer.store.fs import Fs
from veneer.store.layout import Layout
from veneer.store.objects import Objects
from veneer.store.verify import Verifier
from veneer.upkeep.plan import Item, Plan, plan
from veneer.upkeep.roots import Marker

GRACE = timedelta(days=14)
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The plan, and what could not be removed of what was to go, each with the reason."""

    plan: Plan
    stuck: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collector:
    """Collects in one workspace, which must be open for writing."""

    fs: Fs
    layout: Layout
    catalog: Catalog
    objects: Objects
    verifier: Verifier
    candidates: Candidates
    marker: Marker

    def collect(
        self, grace: timedelta, *, dry_run: bool, clock: Clock = utc_now
    ) -> Outcome[Collected]:
        """Plan, and unless it is a `dry_run`, do it. Raises `StoreError`, `DiskFull`."""
        with self.objects.naming:
            now = clock()
            todo = plan(self.marker.roots(), self.marker.items(), self.candidates.all(), now, grace)
            if dry_run:
                return Outcome(Collected(plan=todo), Changes())
            self._note(todo, now)
            stuck = tuple(why for item in todo.swept if (why := self._remove(item)))
        return Outcome(Collected(plan=todo, stuck=stuck), self._changes(todo.dropped))

    def _note(self, todo: Plan, now: datetime) -> None:
        self.candidates.change({item.path: now for item in todo.marked}, todo.spared)
        self.catalog.drop(todo.dropped)
        self.verifier.forget(self.layout.root / item.path for item in todo.swept)

    def _remove(self, item: Item) -> str:
        """Remove a file; why it stays, if it does. It stays marked, and goes the next time."""
        fs, path = self.fs, self.layout.root / item.path
        try:
            fs.unlink(path)
        except VeneerError as error:
            return error.message
        return ""

    def _changes(self, dropped: tuple[Digest, ...]) -> Changes:
        return Changes(adapters=frozenset(dropped), bases=frozenset(dropped))
