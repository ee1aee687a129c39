"""The list of conversations: search in all of them, rename, pin, export, delete."""

from collections.abc import Callable
from pathlib import Path

from veneer.chat.export import SUFFIXES
from veneer_app import text
from veneer_app.chat.session import Listed, Session
from veneer_app.parts import fields
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import button, column, icon_button, row
from veneer_app.parts.lines import Line, Lines
from veneer_app.parts.rows import two_line_list
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal

_EDIT = QtWidgets.QAbstractItemView.EditTrigger
_PAUSE_MS = 150
_WIDTH = 224


class Conversations(QtWidgets.QFrame):
    """The panel at the left. `opened` has a conversation, and the message to show or None."""

    opened = Signal(object, object)
    new_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.setFixedWidth(_WIDTH)
        self._session = session
        self._listed: tuple[Listed, ...] = ()
        self._marking = False
        self._went_to: Listed | None = None
        self.lines = Lines(self, editable=True)
        self.view = two_line_list(self.tr("Conversations"))
        self.view.setModel(self.lines)
        self.view.setEditTriggers(_EDIT.DoubleClicked | _EDIT.EditKeyPressed)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self._make_search()
        self._make_deeds()
        new = button(self.tr("New conversation"), "plus", on_click=self.new_wanted.emit)
        new.setToolTip(self.tr("Ctrl+N"))
        tools = row(None, *self.deeds.values(), spacing=4)
        layout = column(new, self.search, self.view, tools)
        layout.setContentsMargins(8, 16, 8, 8)
        self.setLayout(layout)
        session.listed.connect(self._list)
        self.lines.renamed.connect(session.rename)
        self.view.selectionModel().currentChanged.connect(self._select)
        self.view.clicked.connect(self._select)

    def mark(self, number: int | None) -> None:
        """Select the conversation that is open, without opening it."""
        index = self.lines.index_of(number)
        if index != self.view.currentIndex():
            self._marking = True
            self.view.setCurrentIndex(index)
            self._marking = False
        for part in self.deeds.values():
            part.setEnabled(index.isValid())
        one = self._current()
        pinned = one is not None and one.conversation.pinned
        name = self.tr("Unpin") if pinned else self.tr("Pin to the top")
        self.deeds["pin"].setToolTip(name)
        self.deeds["pin"].setAccessibleName(name)

    def open_newest(self) -> None:
        """Open the conversation at the top, if there is one."""
        if self.lines.lines:
            self.view.setCurrentIndex(self.lines.index(0))

    def begin_search(self) -> None:
        """Write what to search for."""
        self.search.setFocus()
        self.search.selectAll()

    def export(self, out: Path) -> None:
        """Write the selected conversation to a file; its name says in which form."""
        one, form = self._current(), SUFFIXES.get(out.suffix.lower())
        if one is not None and form is not None:
            self._session.export(one.conversation.id, out, form)

    def _make_search(self) -> None:
        self.search = fields.line(self.tr("Search all conversations"), self.tr("Search (Ctrl+F)"))
        self.search.setClearButtonEnabled(True)
        # Qt's own button in the field, which has no name of its own.
        for part in self.search.findChildren(QtWidgets.QToolButton):
            part.setAccessibleName(self.tr("Clear the search"))
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(lambda: self._session.search(self.search.text()))
        self.search.textChanged.connect(lambda _: self._pause.start())

    def _make_deeds(self) -> None:
        deeds: tuple[tuple[str, str, Callable[[], None]], ...] = (
            ("pin", self.tr("Pin to the top"), self._pin),
            ("edit", self.tr("Rename (F2)"), self._rename),
            ("export", self.tr("Export (Ctrl+Shift+E)"), self.ask_where),
            ("trash", self.tr("Delete this conversation"), self._ask_delete),
        )
        self.deeds = {icon: icon_button(icon, name, act) for icon, name, act in deeds}

    def _list(self, listed: tuple[Listed, ...]) -> None:
        self._listed = listed
        self._went_to = None
        self.lines.set_lines([_line(one) for one in listed])
        self.mark(self._session.current)

    def _select(self, index: QtCore.QModelIndex, _: object = None) -> None:
        """Go to what was chosen. A click tells of it twice, if it was not current before."""
        number = self.lines.key_at(index)
        one = next((x for x in self._listed if x.conversation.id == number), None)
        if self._marking or one is None or one is self._went_to:
            return
        if number != self._session.current or one.node is not None:
            self._went_to = one
            self.opened.emit(number, one.node)

    def _current(self) -> Listed | None:
        number = self.lines.key_at(self.view.currentIndex())
        return next((x for x in self._listed if x.conversation.id == number), None)

    def _open_menu(self, at: QtCore.QPoint) -> None:
        if not self.view.indexAt(at).isValid():
            return
        menu = QtWidgets.QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for part in self.deeds.values():
            menu.addAction(part.accessibleName()).triggered.connect(part.click)
        menu.popup(self.view.viewport().mapToGlobal(at))

    def _pin(self) -> None:
        one = self._current()
        if one is not None:
            self._session.pin(one.conversation.id, pinned=not one.conversation.pinned)

    def _rename(self) -> None:
        self.view.edit(self.view.currentIndex())

    def ask_where(self) -> None:
        """Choose the file to write the selected conversation to."""
        one = self._current()
        if one is None:
            return
        dialog = QtWidgets.QFileDialog(self, self.tr("Export this conversation"))
        dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Markdown (*.md)"), self.tr("JSON (*.json)")])
        dialog.setDefaultSuffix("md")
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix("json" if "json" in chosen else "md")
        )
        name = "".join(c if c.isalnum() else "-" for c in one.conversation.title).strip("-")
        dialog.selectFile(f"{name or one.conversation.id}.md")
        dialog.fileSelected.connect(lambda chosen: self.export(Path(chosen)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_delete(self) -> None:
        one = self._current()
        if one is not None:
            confirm(
                self,
                self.tr("Delete this conversation?"),
                self.tr("Its messages are gone for good."),
                self.tr("Delete"),
                lambda: self._session.delete(one.conversation.id),
            )

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:  # noqa: N802
        """Delete, while the list has the keyboard, asks before it deletes."""
        if event.key() == Qt.Key.Key_Delete and self.view.hasFocus():
            self._ask_delete()
        else:
            super().keyPressEvent(event)


def _line(one: Listed) -> Line:
    kept = one.conversation
    about = text.plain(one.excerpt, 80) or text.when(kept.created_at)
    if kept.pinned:
        about = text.translate("Conversations", "Pinned · {about}").format(about=about)
    return Line(kept.id, text.plain(kept.title, 60), about)
