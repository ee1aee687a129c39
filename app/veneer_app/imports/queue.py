"""The imports that were asked for: waiting, running, done, failed or stopped.

Each is an operation of its own, so that one bad file among ten stops nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Literal

from veneer.errors import Cancelled, VeneerError
from veneer.store.importing import Imported
from veneer.workspace import Workspace
from veneer_app import text
from veneer_app.operations import Operations, Task
from veneer_app.qt import QtCore, Signal

Status = Literal["waiting", "running", "done", "failed", "stopped"]


@dataclass(frozen=True)
class ImportItem:
    """One path and how far it is: bytes, and bytes a second since it began."""

    number: int
    path: Path
    status: Status = "waiting"
    done: int = 0
    total: int = 0
    rate: float = 0.0
    sentence: str = ""
    code: str = ""

    @property
    def name(self) -> str:
        """What to call it."""
        return text.plain(self.path.name or str(self.path), 60)

    @property
    def over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in {"done", "failed", "stopped"}


class ImportQueue(QtCore.QObject):
    """Starts imports and follows them."""

    updated = Signal(object)
    removed = Signal(int)

    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._operations = operations
        self._items: dict[int, ImportItem] = {}
        self._tasks: dict[int, Task] = {}
        self._began: dict[int, tuple[float, int]] = {}
        self._last = 0

    def items(self) -> tuple[ImportItem, ...]:
        """Every item that has not been dismissed, oldest first."""
        return tuple(self._items.values())

    def add(self, paths: Sequence[Path], then: Callable[[Imported], object] | None = None) -> None:
        """Import each path, or what is in it; `then` is told of each that succeeded."""
        self._operations.read(
            lambda ws: [found for path in paths for found in _inside(ws, path)],
            lambda found: self._start(found, then),
        )

    def cancel(self, number: int) -> None:
        """Stop one import. Nothing of it stays."""
        if number in self._tasks:
            self._tasks[number].cancel()

    def dismiss(self, number: int) -> None:
        """Take an item that is over off the list."""
        if number in self._items and self._items[number].over:
            del self._items[number]
            self.removed.emit(number)

    def _start(self, paths: Sequence[Path], then: Callable[[Imported], object] | None) -> None:
        for path in paths:
            self._import(path, then)

    def _import(self, path: Path, then: Callable[[Imported], object] | None) -> None:
        self._last += 1
        number = self._last
        self._put(ImportItem(number, path))
        task = self._operations.change(
            lambda ws, progress, cancel: ws.import_path(path, progress=progress, cancel=cancel)
        )
        self._tasks[number] = task
        task.progressed.connect(lambda done, total: self._progressed(number, done, total))
        task.failed.connect(lambda error: self._failed(number, error))
        task.succeeded.connect(lambda imported: self._succeeded(number, imported, then))

    def _progressed(self, number: int, done: int, total: int) -> None:
        began = self._began.setdefault(number, (monotonic(), done))
        elapsed = monotonic() - began[0]
        rate = (done - began[1]) / elapsed if elapsed else 0.0
        item = self._items[number]
        self._put(replace(item, status="running", done=done, total=total, rate=rate))

    def _succeeded(
        self, number: int, imported: Imported, then: Callable[[Imported], object] | None
    ) -> None:
        self._over(number)
        words = {
            ("base", False): self.tr("Base “{name}” is in the library."),
            ("adapter", False): self.tr("Adapter “{name}” is in the library."),
            ("stack", False): self.tr("The stack “{name}” is here."),
            ("stack", True): self.tr("The stack “{name}” was here already."),
            ("base", True): self.tr("Base “{name}” was here already."),
            ("adapter", True): self.tr("Adapter “{name}” was here already."),
        }
        sentence = words[imported.kind, imported.already].format(name=text.plain(imported.name, 60))
        self._put(replace(self._items[number], status="done", sentence=sentence))
        if then is not None:
            then(imported)

    def _failed(self, number: int, error: BaseException) -> None:
        self._over(number)
        status: Status = "stopped" if isinstance(error, Cancelled) else "failed"
        self._put(
            replace(
                self._items[number],
                status=status,
                sentence=text.reason(error),
                code=text.code(error),
            )
        )

    def _over(self, number: int) -> None:
        self._tasks.pop(number, None)
        self._began.pop(number, None)

    def _put(self, item: ImportItem) -> None:
        self._items[item.number] = item
        self.updated.emit(item)


def _inside(workspace: Workspace, path: Path) -> tuple[Path, ...]:
    try:
        return workspace.importable(path)
    except VeneerError:
        # Importing it tells why.
        return (path,)
