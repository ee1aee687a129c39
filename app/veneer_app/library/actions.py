"""What can be done with one base or adapter, beside what is known of it."""

from pathlib import Path

from veneer.store.records import StoredAdapter
from veneer.tasks import CancelToken, Progress
from veneer.workspace import Workspace
from veneer_app import text
from veneer_app.library.rows import LibraryRow
from veneer_app.library.targets import TargetsDialog
from veneer_app.operations import Task
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import button, column, row
from veneer_app.qt import QtCore, QtGui, QtWidgets, Signal
from veneer_app.services import Services


class Actions(QtWidgets.QWidget):
    """Buttons. `stack_wanted` has an adapter to be added to the stack; `said` a sentence."""

    stack_wanted = Signal(str)
    said = Signal(str)

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._operations = services.operations
        self._row: LibraryRow | None = None
        self._verifying: Task | None = None
        self.stack = button(
            self.tr("Add to the stack"),
            "stacks",
            tip=self.tr("Enter, or drag it to Stacks"),
            on_click=self.add_to_stack,
        )
        self.targets = button(self.tr("Targets…"), "layer", on_click=self._show_targets)
        self.reveal = button(self.tr("Show in folder"), "folder", on_click=self._reveal)
        self.verify = button(self.tr("Verify again"), "verify", on_click=self._verify)
        self.remove = button(self.tr("Remove…"), "trash", kind="danger", on_click=self._ask)
        self.setLayout(
            column(
                row(self.stack, self.targets, None),
                row(self.reveal, None),
                row(self.verify, self.remove, None),
            )
        )

    def show_row(self, shown: LibraryRow) -> None:
        """Act on this from now on."""
        self._row = shown
        for part in (self.stack, self.targets):
            part.setVisible(shown.kind == "adapter")

    def add_to_stack(self) -> None:
        """Have it added, if it is an adapter."""
        if self._row is not None and self._row.kind == "adapter":
            self.stack_wanted.emit(self._row.digest)

    def _show_targets(self) -> None:
        if self._row is not None and isinstance(self._row.stored, StoredAdapter):
            dialog = TargetsDialog(self._row.stored, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _reveal(self) -> None:
        shown = self._row
        if shown is not None:
            self._operations.read(lambda ws: ws.location(f"{shown.kind}:{shown.digest}"), _open)

    def _verify(self) -> None:
        """Hash its files again; pressed once more, stop."""
        shown = self._row
        if self._verifying is not None:
            self._verifying.cancel()
            return
        if shown is None:
            return

        def work(ws: Workspace, progress: Progress, cancel: CancelToken) -> None:
            if shown.kind == "base":
                base = ws.library.base(shown.digest)
                ws.custody.verify_base(base, progress, cancel, thorough=True)
            else:
                adapter = ws.library.adapter(shown.digest)
                ws.custody.verify_adapter(adapter, progress, cancel, thorough=True)

        task = self._operations.change(work)
        self._verifying = task
        task.progressed.connect(self._show_progress)
        task.succeeded.connect(lambda _: self._verified(shown))
        task.failed.connect(self._operations.refused)
        task.failed.connect(lambda _: self._rest())

    def _show_progress(self, done: int, total: int) -> None:
        if self._verifying is not None and total:
            self.verify.setText(self.tr("Stop ({percent} %)").format(percent=100 * done // total))

    def _verified(self, shown: LibraryRow) -> None:
        self._rest()
        words = self.tr("“{name}” is on disk as it was imported.")
        self.said.emit(words.format(name=shown.name))

    def _rest(self) -> None:
        self._verifying = None
        self.verify.setText(self.tr("Verify again"))

    def _ask(self) -> None:
        shown = self._row
        if shown is None:
            return
        detail = self.tr("It leaves the library. The file it was imported from stays where it is.")
        if shown.users:
            needed = self.tr("Needed by: {stacks}. Remove those stacks first.")
            users = text.plain(", ".join(shown.users), 200)
            detail = needed.format(stacks=users)
        confirm(
            self,
            self.tr("Remove “{name}”?").format(name=shown.name),
            detail,
            self.tr("Remove"),
            lambda: self._operations.do(lambda ws: ws.forget(f"{shown.kind}:{shown.digest}")),
        )


def _open(place: Path) -> None:
    """Have the system's file manager show where something lies."""
    # A folder is shown itself, of a file the folder it is in.
    folder = place if QtCore.QFileInfo(str(place)).isDir() else place.parent
    QtGui.QDesktopServices.openUrl(QtCore.QUrl.fromLocalFile(str(folder)))
