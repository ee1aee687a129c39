"""Tables over immutable rows: what each column shows is a function of the row.

`set_rows` replaces everything at once; a view keeps its selection by the row's key.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.theme.tokens import current

SORT = Qt.ItemDataRole.UserRole + 1
ROW = Qt.ItemDataRole.UserRole + 2
Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex
_NOWHERE = QtCore.QModelIndex()


@dataclass(frozen=True)
class Column:
    """`text` is shown; `sort` orders (the text, if absent); `tone` names a tone of the theme."""

    title: str
    text: Callable[[Any], str]
    sort: Callable[[Any], Any] | None = None
    tone: Callable[[Any], str] | None = None
    right: bool = False


class Table(QtCore.QAbstractTableModel):
    """Rows of any frozen type, seen through columns."""

    def __init__(self, columns: Sequence[Column], parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._rows: tuple[Any, ...] = ()

    @property
    def rows(self) -> tuple[Any, ...]:
        """What is in the table."""
        return self._rows

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace everything."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def change_rows(self, changed: Mapping[int, Any]) -> None:
        """Put others in the place of some rows, by their numbers."""
        if changed:
            self._rows = tuple(changed.get(n, row) for n, row in enumerate(self._rows))
            last = self.columnCount() - 1
            self.dataChanged.emit(self.index(min(changed), 0), self.index(max(changed), last))

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802
        """How many rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802
        """How many columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The titles of the columns."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(self._columns[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        column, row = self._columns[index.column()], self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(row)
            case _ if role == ROW:
                return row
            case _ if role == SORT:
                return (column.sort or column.text)(row)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._alignment(column)
            case Qt.ItemDataRole.ForegroundRole if column.tone is not None:
                return QtGui.QColor(getattr(current(), column.tone(row)))
            case _:
                return None

    def _alignment(self, column: Column) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class Found(QtCore.QSortFilterProxyModel):
    """The rows as they are sorted and, in a subclass, filtered."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.setSourceModel(table)
        self.setSortRole(SORT)

    def row_at(self, index: Index) -> Any:
        """The value behind a cell, or None."""
        return index.data(ROW) if index.isValid() else None

    def index_of(self, is_it: Callable[[Any], bool]) -> QtCore.QModelIndex:
        """The first cell of the first row that is it, or no index."""
        for number in range(self.rowCount()):
            index = self.index(number, 0)
            if is_it(index.data(ROW)):
                return index
        return QtCore.QModelIndex()


class TableView(QtWidgets.QTableView):
    """A table that gives up columns where it is too narrow for all of them.

    `gives_up` has (width in points, column): the column is shown from that width on. `looked_at`
    says that other rows may be in sight.
    """

    looked_at = Signal()

    def __init__(self, gives_up: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self._gives_up = tuple(gives_up)
        self.verticalScrollBar().valueChanged.connect(self.looked_at)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """Another width has room for other columns."""
        super().resizeEvent(event)
        for width, column in self._gives_up:
            self.setColumnHidden(column, event.size().width() < width)
        self.looked_at.emit()

    def rows_in_sight(self) -> range:
        """The numbers of the model's rows that can be seen at least in part."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        if first < 0:
            return range(0)
        return range(first, (last if last >= 0 else self.model().rowCount() - 1) + 1)


def table_view(
    name: str, model: QtCore.QAbstractItemModel, gives_up: Sequence[tuple[int, int]] = ()
) -> TableView:
    """A view of whole rows, without grid."""
    view = TableView(gives_up)
    view.setAccessibleName(name)
    view.setModel(model)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setSortingEnabled(True)
    view.setCornerButtonEnabled(False)
    view.setTabKeyNavigation(False)
    view.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
    view.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(36)
    header = view.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return view
