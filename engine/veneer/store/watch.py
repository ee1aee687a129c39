"""Folders that are watched for new models and adapters.

The operating system says that something under a folder changed -> the entry of that folder which
it lies in is looked at until it rests, since downloads and copies take a while to be complete ->
it is handed over, once for each state it came to rest in.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Protocol

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from veneer.errors import VeneerError
from veneer.store.fs import Fs

Signature = tuple[tuple[str, str], ...]
"""The name and state of every file of an entry; any change of any of them makes another."""

_QUIET = 2.0
"""Seconds in which nothing may have changed."""
_LOOK = 0.25
_DEPTH = 3
_TELLING = frozenset({"created", "modified", "moved", "closed"})
"""Not `opened`: looking at a file must not count as a change of it."""


@dataclass(frozen=True)
class _Resting:
    signature: Signature
    since: float


class Settling:
    """Entries that changed lately. Knows no clock and no files, both are handed in."""

    def __init__(self, quiet: float) -> None:
        self._quiet = quiet
        self._restless: dict[Path, _Resting] = {}
        self._handed: dict[Path, Signature] = {}

    def __bool__(self) -> bool:
        return bool(self._restless)

    def notice(self, entry: Path) -> None:
        """Something about an entry changed."""
        self._restless.setdefault(entry, _Resting((), 0.0))

    def due(self, now: float, look: Callable[[Path], Signature]) -> list[Path]:
        """The entries that have rested long enough; each is told once for each state."""
        rested: list[Path] = []
        for entry, before in list(self._restless.items()):
            signature = look(entry)
            if not signature or signature == self._handed.get(entry):
                del self._restless[entry]
            elif signature != before.signature:
                self._restless[entry] = replace(before, signature=signature, since=now)
            elif now - before.since >= self._quiet:
                del self._restless[entry]
                self._handed[entry] = signature
                rested.append(entry)
        return rested


class Watching(Protocol):
    """What watchdog's observers have in common."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def join(self, timeout: float | None = None) -> None: ...


class Watcher:
    """Watches folders until it is closed. `found` is called on a thread of the watcher's own."""

    def __init__(self, fs: Fs, found: Callable[[Path], None], *, quiet: float = _QUIET) -> None:
        self._fs = fs
        self._found = found
        self._settling = Settling(quiet)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._observer: Watching | None = None
        self._thread = threading.Thread(target=self._run, name="veneer-watch", daemon=True)
        self._thread.start()

    def watch(self, folders: Sequence[Path]) -> tuple[Path, ...]:
        """Watch these from now on, and no others; gives those that are there to be watched."""
        self._stop_observing()
        there = tuple(f for f in folders if (found := self._fs.stat(f)) and found.is_dir)
        if there:
            observer = Observer()
            for folder in there:
                observer.schedule(_Handler(folder, self._touch), str(folder), recursive=True)
            observer.start()
            self._observer = observer
        return there

    def close(self) -> None:
        """Stop watching. Nothing is found after this returns."""
        self._stop_observing()
        self._closed = True
        self._wake.set()
        self._thread.join()

    def _stop_observing(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def _touch(self, entry: Path) -> None:
        with self._lock:
            self._settling.notice(entry)
        self._wake.set()

    def _run(self) -> None:
        while not self._closed:
            self._wake.wait(_LOOK if self._settling else None)
            self._wake.clear()
            with self._lock:
                rested = self._settling.due(monotonic(), self._signature)
            for entry in rested:
                self._found(entry)

    def _signature(self, entry: Path) -> Signature:
        try:
            return tuple(self._states(entry, _DEPTH))
        except VeneerError:
            # It went away while it was looked at; if it comes back, that is told again.
            return ()

    def _states(self, path: Path, depth: int) -> list[tuple[str, str]]:
        found = self._fs.stat(path)
        if found is None:
            return []
        if not found.is_dir:
            return [(str(path), found.key)]
        inner = self._fs.list_dir(path) if depth else ()
        return [state for name in inner for state in self._states(path / name, depth - 1)]


class _Handler(FileSystemEventHandler):
    def __init__(self, folder: Path, touch: Callable[[Path], None]) -> None:
        self._folder = folder
        self._touch = touch

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Tell which entry of the folder the event is about."""
        if event.event_type not in _TELLING:
            return
        for name in (event.src_path, event.dest_path):
            path = Path(str(name))
            if name and self._folder in path.parents:
                self._touch(self._folder / path.relative_to(self._folder).parts[0])
