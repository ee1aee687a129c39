"""Which rows of the Library are shown: those with the words, of the kind, that fit as asked."""

from collections.abc import Sequence
from typing import Literal

from veneer_app.library.rows import FITS, LibraryRow
from veneer_app.parts.carry import carrying
from veneer_app.parts.table import ROW, Found, Index, Table
from veneer_app.qt import Qt, QtCore

Fit = Literal["all", "fits", "unsure", "refused"]


class LibraryFound(Found):
    """Each row's words were put together when it was read, so that typing stays fast."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._table = table
        self._words: tuple[str, ...] = ()
        self._kind = ""
        self._fit: Fit = "all"

    @property
    def by_fit(self) -> bool:
        """Whether it takes every verdict to know what is shown, and in which order."""
        return self._fit != "all" or self.sortColumn() == FITS

    def search(self, text: str) -> None:
        """Show what has all of these words in its name, kind, tags, notes or what it is for."""
        self._words = tuple(text.casefold().split())
        self.invalidate()

    def show_kind(self, kind: str) -> None:
        """Show one kind; "" shows all of them."""
        self._kind = kind
        self.invalidate()

    def show_fit(self, fit: Fit) -> None:
        """Show adapters by how they fit the chosen base. Bases are shown with all only."""
        self._fit = fit
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:  # noqa: N802
        """Whether a row is shown."""
        shown: LibraryRow = self._table.rows[row]
        if self._kind and shown.kind_key != self._kind:
            return False
        if self._fit != "all" and shown.fit != self._fit:
            return False
        return all(word in shown.words for word in self._words)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Adapters can be dragged onto the stack."""
        flags = super().flags(index)
        shown: LibraryRow | None = self.row_at(index)
        draggable = shown is not None and shown.kind == "adapter"
        return flags | Qt.ItemFlag.ItemIsDragEnabled if draggable else flags

    def mimeData(self, indexes: Sequence[QtCore.QModelIndex]) -> QtCore.QMimeData:  # noqa: N802
        """What is dragged: the adapter."""
        shown: LibraryRow = indexes[0].data(ROW)
        return carrying(shown.digest)
