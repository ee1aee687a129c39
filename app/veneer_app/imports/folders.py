"""The watched folders: what lies in them and is not here yet, and what appears later, is imported.

Each file is offered once while the window is open; whatever is wrong with it stays in the tray.
"""

from collections.abc import Sequence
from pathlib import Path

from veneer.store.settings import Settings
from veneer.store.watch import Watcher
from veneer.workspace import Workspace
from veneer_app.imports.queue import ImportQueue
from veneer_app.operations import Operations
from veneer_app.qt import QtCore


class Folders(QtCore.QObject):
    """Follows the settings. `close` before the operations are closed."""

    def __init__(self, workspace: Workspace, operations: Operations, queue: ImportQueue) -> None:
        super().__init__(operations)
        self._workspace = workspace
        self._operations = operations
        self._queue = queue
        self._watcher: Watcher | None = None
        self._folders: tuple[Path, ...] = ()
        operations.settings_changed.connect(self.follow)

    def follow(self, settings: Settings) -> None:
        """Watch the folders of these settings."""
        folders = tuple(map(Path, settings.watched))
        if folders == self._folders:
            return
        new = [folder for folder in folders if folder not in self._folders]
        self._folders = folders
        if self._watcher is None:
            self._watcher = self._workspace.watch(self._found)
        watcher = self._watcher
        self._operations.read(lambda ws: watcher.watch(folders), lambda there: self._look(new))

    def close(self) -> None:
        """Watch no more."""
        if self._watcher is not None:
            self._watcher.close()

    def _look(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            self._operations.read(lambda ws, at=folder: ws.not_here_yet(at), self._queue.add)

    def _found(self, entry: Path) -> None:
        """On the watcher's thread."""
        self._operations.hand(lambda: self._queue.add((entry,)))
