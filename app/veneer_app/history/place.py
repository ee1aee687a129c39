"""The History: every generation, newest first, and the way back to any that was active."""

from veneer.store.changes import Changes
from veneer_app import reads
from veneer_app.history.events import Events
from veneer_app.history.line import DotBeside
from veneer_app.history.rows import columns
from veneer_app.operations import Latest
from veneer_app.parts.controls import button, column, label, row
from veneer_app.parts.empty import Empty
from veneer_app.parts.keys import key
from veneer_app.parts.table import Found, Table, table_view
from veneer_app.qt import QtCore, QtGui, QtWidgets
from veneer_app.services import Services

_WIDTHS = {0: 68, 2: 140, 3: 112, 4: 156, 5: 80}
_IN_PANEL_TOO = (2, 5)
_ROOMY = 720
_AT_ONCE = 200


class HistoryPlace(QtWidgets.QWidget):
    """What was active when, who asked for it, and what failed."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._latest = Latest(services.operations, self)
        self._selected: int | None = None
        self._limit = _AT_ONCE
        self.table = Table(columns(), self)
        self.found = Found(self.table)
        self.view = table_view(self.tr("Generations"), self.found)
        self.older = button(self.tr("Show older ones"), "down", on_click=self._show_older)
        self.events = Events(services)
        self.empty = Empty(
            "history",
            self.tr("Nothing has been active yet"),
            self.tr(
                "Each time a stack is activated, a generation is written down here with its "
                "steps and times. You can return to any of them."
            ),
        )
        self._arrange()
        self.view.selectionModel().currentRowChanged.connect(self._select)
        self.found.modelReset.connect(self._select_again)
        key(self, "Ctrl+Return", self.events.roll_back)
        services.operations.changed.connect(self._changed)
        self.refresh()

    def refresh(self) -> None:
        """Read the journal again."""
        limit = self._limit
        self._latest.ask(lambda ws: reads.generations(ws, limit), self.show_now)

    def _arrange(self) -> None:
        header = self.view.horizontalHeader()
        header.setSectionResizeMode(1, QtWidgets.QHeaderView.ResizeMode.Stretch)
        for number, width in _WIDTHS.items():
            self.view.setColumnWidth(number, width)
        # A line of time has one order.
        self.view.setSortingEnabled(False)
        header.setSectionsClickable(False)
        self.view.setItemDelegateForColumn(0, DotBeside(self.view))
        self._list = QtWidgets.QWidget()
        older = row(self.older, None)
        layout = column(label(self.tr("History"), "title"), self.view, older, spacing=16)
        layout.setContentsMargins(24, 24, 24, 24)
        self._list.setLayout(layout)
        self.setLayout(row(self.empty, self._list, self.events, spacing=0))
        for part in (self._list, self.empty, self.older):
            part.hide()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """In a narrow window the panel alone says who asked and how long it took."""
        super().resizeEvent(event)
        for number in _IN_PANEL_TOO:
            self.view.setColumnHidden(number, self.width() < _ROOMY + self.events.width())

    def _changed(self, changes: Changes) -> None:
        if changes.generations or changes.compositions:
            self.refresh()

    def _show_older(self) -> None:
        self._limit += _AT_ONCE
        self.refresh()

    def show_now(self, past: tuple[reads.Past, ...]) -> None:
        """Show exactly these."""
        self.empty.setVisible(not past)
        self._list.setVisible(bool(past))
        self.older.setVisible(len(past) == self._limit)
        self.table.set_rows(past)

    def _select(self, index: QtCore.QModelIndex) -> None:
        past: reads.Past | None = self.found.row_at(index)
        if past is not None:
            self._selected = past.generation.number
        self.events.show_past(past)

    def _select_again(self) -> None:
        index = self.found.index_of(lambda row: row.generation.number == self._selected)
        if not index.isValid():
            index = self.found.index(0, 0)
        self.view.setCurrentIndex(index)
