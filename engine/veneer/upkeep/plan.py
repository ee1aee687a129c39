"""What may go, decided from what is needed and what is there; nothing is touched here.

A file that nothing needs is marked, with the time; it is swept when it is still not needed after
the grace period. Where a root cannot be read, what it needs is unknown, and nothing goes.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from rich.filesize import decimal

from veneer.identity import Digest


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A file: its path in the workspace, with `/` between the parts, and its size in bytes."""

    path: str
    size: int


class Roots(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed, as paths, and a sentence for each root of which that cannot be told.

    `removed` is what is in the library no more, by digest: the paths of its files and when it was
    removed. `needed_removed` are those that a generation or stack still needs.
    """

    needed: frozenset[str]
    removed: Mapping[Digest, tuple[frozenset[str], datetime]]
    needed_removed: frozenset[Digest]
    unreadable: tuple[str, ...] = ()


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes after a time, if nothing needs it then."""

    item: Item
    until: datetime


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a collection does. All of it is empty where it is `blocked`, which says why.

    `marked` are seen for the first time, `waiting` are all that go later (those marked included),
    `swept` go now, `spared` are marked no more; `dropped` are records of what was removed.
    """

    kept: tuple[Item, ...] = ()
    marked: tuple[Item, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    swept: tuple[Item, ...] = ()
    spared: tuple[str, ...] = ()
    dropped: tuple[Digest, ...] = ()
    blocked: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The plan for people."""
        if self.blocked:
            yield "Nothing is removed, since it cannot be told what is needed:"
            yield from (f"  {sentence}" for sentence in self.blocked)
            return
        yield f"needed: {_sum(self.kept)}"
        yield f"not needed, and to go later: {_sum(w.item for w in self.waiting)}"
        for waiting in self.waiting:
            yield f"  {_line(waiting.item)}, after {waiting.until:%Y-%m-%d %H:%M} UTC"
        yield f"to go now: {_sum(self.swept)}"
        yield from (f"  {_line(item)}" for item in self.swept)


def plan(
    roots: Roots,
    items: Iterable[Item],
    candidates: Mapping[str, datetime],
    now: datetime,
    grace: timedelta,
) -> Plan:
    """What to do about `items`, of which `candidates` were not needed before, and since when."""
    if roots.unreadable:
        return Plan(blocked=roots.unreadable)
    since = {**candidates, **_not_before_removal(roots, candidates)}
    there = {item.path: item for item in items}
    loose = [item for path, item in there.items() if path not in roots.needed]
    until = {item.path: since.get(item.path, now) + grace for item in loose}
    swept = tuple(item for item in loose if until[item.path] <= now)
    waiting = tuple(
        Waiting(item=item, until=until[item.path]) for item in loose if until[item.path] > now
    )
    return Plan(
        kept=tuple(item for path, item in there.items() if path in roots.needed),
        marked=tuple(item for item in loose if item.path not in candidates),
        waiting=waiting,
        swept=swept,
        spared=tuple(sorted(p for p in candidates if p in roots.needed or p not in there)),
        dropped=tuple(_dropped(roots, swept, waiting, now - grace)),
    )


def _not_before_removal(roots: Roots, candidates: Mapping[str, datetime]) -> dict[str, datetime]:
    """A file that was brought in again after it was marked waits anew from its removal."""
    return {
        path: max(candidates[path], at)
        for paths, at in roots.removed.values()
        for path in paths
        if path in candidates
    }


def _dropped(
    roots: Roots, swept: tuple[Item, ...], waiting: tuple[Waiting, ...], before: datetime
) -> Iterator[Digest]:
    """The records of what loses a file now, or has none to lose and was removed long ago."""
    going, staying = {i.path for i in swept}, {w.item.path for w in waiting}
    for digest, (paths, at) in roots.removed.items():
        unneeded = digest not in roots.needed_removed
        if unneeded and (paths & going or (at <= before and not paths & staying)):
            yield digest


def _sum(items: Iterable[Item]) -> str:
    sizes = [item.size for item in items]
    return f"{len(sizes)} files, {decimal(sum(sizes))}"


def _line(item: Item) -> str:
    return f"{item.path}  {decimal(item.size)}"
