"""A list of two-line rows as a model: the rows are immutable values with a key."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from veneer_app.parts.rows import CAP, MARK, SUBTITLE
from veneer_app.qt import Qt, QtCore, Signal

Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex
_NOWHERE = QtCore.QModelIndex()


@dataclass(frozen=True)
class Line:
    """One row. `mark` puts a dot beside it, `cap` a key of the keyboard."""

    key: Hashable
    title: str
    subtitle: str = ""
    mark: bool = False
    cap: str = ""


class Lines(QtCore.QAbstractListModel):
    """The rows of a list. `renamed` (key, text) is asked for by editing a row in place."""

    renamed = Signal(object, str)

    def __init__(self, parent: QtCore.QObject, *, editable: bool = False) -> None:
        super().__init__(parent)
        self._editable = editable
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is in the list."""
        return self._lines

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Replace everything, unless nothing is different."""
        if tuple(lines) != self._lines:
            self.beginResetModel()
            self._lines = tuple(lines)
            self.endResetModel()

    def index_of(self, key: Hashable) -> QtCore.QModelIndex:
        """Where a key is, or no index."""
        for number, line in enumerate(self._lines):
            if line.key == key:
                return self.index(number)
        return QtCore.QModelIndex()

    def key_at(self, index: Index) -> Any:
        """The key of a row, or None."""
        return self._lines[index.row()].key if index.isValid() else None

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802
        """How many rows."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a row shows."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return line.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{line.title}, {line.subtitle}"
        return {SUBTITLE: line.subtitle, MARK: line.mark, CAP: line.cap}.get(role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Rows can be edited if their titles are a person's."""
        flags = super().flags(index)
        editable = self._editable and index.isValid()
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def setData(  # noqa: N802
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Ask for another title; the row changes when the engine has kept it."""
        wanted = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not wanted:
            return False
        if wanted != self._lines[index.row()].title:
            self.renamed.emit(self.key_at(index), wanted)
        return True
