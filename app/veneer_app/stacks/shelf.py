"""What is done to whole stacks: saved, duplicated, renamed, pinned, exported, removed.

The engine is asked, and the editor follows when it has done it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from veneer.compose.package import SUFFIX
from veneer.compose.stacks import Composition, Unreadable
from veneer.store.refs import clean_name, free_name
from veneer_app import text
from veneer_app.operations import Operations
from veneer_app.parts.ask import confirm
from veneer_app.qt import QtCore, QtWidgets, Signal
from veneer_app.reads import StacksNow
from veneer_app.stacks.draft import Draft, draft_of
from veneer_app.stacks.editor import Editor


class Shelf(QtCore.QObject):
    """`now` is what is saved.

    `nameless` says that a name is wanted first, `gone` has the name of what was removed,
    `exported` what was packed.
    """

    nameless = Signal()
    gone = Signal(str)
    exported = Signal(object)

    def __init__(self, parent: QtWidgets.QWidget, operations: Operations, editor: Editor) -> None:
        super().__init__(parent)
        self._window = parent
        self._operations = operations
        self._editor = editor
        self.now = StacksNow()

    def save(self) -> None:
        """Save the draft under its name, asking first if another stack has that."""
        draft, key = self._editor.draft, self._editor.key
        if draft.base is None:
            return
        if not draft.name.strip():
            self.nameless.emit()
            return
        name = clean_name(draft.name)
        if name == key or self.now.stack(name) is None:
            self._save(draft, name, was=key or None)
            return
        self._ask(
            self.tr("Replace the stack “{name}”?").format(name=text.plain(name, 60)),
            self.tr("There is one of this name. What it was stays in the history."),
            self.tr("Replace"),
            lambda: self._save(draft, name, was=None),
        )

    def duplicate(self) -> None:
        """Begin a new stack with the same in it."""
        draft = self._editor.draft
        taken = [c.name or "" for c in self.now.saved]
        name = free_name(draft.name or self.tr("Stack"), (draft.name, *taken))
        self._editor.begin(replace(draft, name=name))

    def rename(self, old: str, new: str) -> None:
        """Give a saved stack another name."""
        self._operations.do(
            lambda ws: ws.stacks.rename(old, new),
            lambda done: self._editor.renamed(old, done.name),
        )

    def pin(self, key: int) -> None:
        """Put the stack under a key, or (0) under none."""
        name = self._editor.key
        if key:
            self._operations.do(lambda ws: ws.pins.pin(name, key))
        else:
            self._operations.do(lambda ws: ws.pins.unpin(name))

    def remove(self) -> None:
        """Ask, then remove the stack; what it is made of stays."""
        name = self._editor.key
        self._ask(
            self.tr("Remove the stack “{name}”?").format(name=text.plain(name, 60)),
            self.tr("Its adapters stay in the library, and the history stays as it is."),
            self.tr("Remove"),
            lambda: self._operations.do(
                lambda ws: ws.stacks.forget(name), lambda _: self.gone.emit(name)
            ),
        )

    def ask_about(self, broken: Unreadable) -> None:
        """Say why a stack cannot be read, and offer to remove it."""
        self._ask(
            self.tr("The stack “{name}” cannot be read").format(name=text.plain(broken.name, 60)),
            text.plain(broken.problem, 600),
            self.tr("Remove"),
            lambda: self._operations.do(lambda ws: ws.stacks.forget(broken.name)),
        )

    def export(self) -> None:
        """Ask for a file, then pack the stack as it was saved into it."""
        name = self._editor.key
        dialog = QtWidgets.QFileDialog(self._window, self.tr("Export the stack"))
        dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Stacks (*{suffix})").format(suffix=SUFFIX)])
        dialog.setDefaultSuffix(SUFFIX.removeprefix("."))
        dialog.selectFile(_file_name(name) + SUFFIX)
        dialog.fileSelected.connect(lambda file: self.export_to(name, Path(file)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export_to(self, name: str, path: Path) -> None:
        """Pack a saved stack into a file; whoever chose it agreed to lose what is there."""
        task = self._operations.change(
            lambda ws, progress, cancel: ws.export(
                f"composition:{name}", path, replace=True, progress=progress, cancel=cancel
            )
        )
        task.succeeded.connect(self.exported)
        task.failed.connect(self._operations.refused)

    def _save(self, draft: Draft, name: str, was: str | None) -> None:
        base = draft.base
        assert base is not None

        def saved(made: Composition) -> None:
            self._editor.saved_as(made.name or "", draft_of(made))

        self._operations.do(
            lambda ws: ws.compose(base, draft.parts, name=name, was=was if was != name else None),
            saved,
        )

    def _ask(self, question: str, detail: str, verb: str, then: Callable[[], object]) -> None:
        confirm(self._window, question, detail, verb, then)


def _file_name(name: str) -> str:
    """A name that every file system takes."""
    return "".join(c if c.isalnum() or c in " -_.+" else "-" for c in name).strip(" .") or "stack"
