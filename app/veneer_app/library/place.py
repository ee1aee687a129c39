"""The Library: search, one table over bases and adapters, and the details of what is selected."""

from dataclasses import replace

from veneer.demo import adapters, embedded_base
from veneer.identity import Digest
from veneer.store.changes import Changes
from veneer.workspace import Workspace
from veneer_app import reads, text
from veneer_app.library.details import Details
from veneer_app.library.found import LibraryFound
from veneer_app.library.rows import LibraryRow, columns, kind_of, rows
from veneer_app.operations import Latest
from veneer_app.parts import fields
from veneer_app.parts.controls import button, column, label, row
from veneer_app.parts.empty import Empty
from veneer_app.parts.keys import key
from veneer_app.parts.table import Table, table_view
from veneer_app.qt import Qt, QtCore, QtWidgets, Signal
from veneer_app.services import Services

_WIDTHS = (0, 60, 56, 76, 84, 160, 112)
_GIVES_UP = ((620, 5), (480, 2), (480, 3))
"""Where the table is narrow, the details alone say what an adapter was made for, then its rank."""


class LibraryPlace(QtWidgets.QWidget):
    """Everything that was imported."""

    import_wanted = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._services = services
        self._latest = Latest(services.operations, self)
        self._chosen: Digest | None = None
        self._selected: Digest | None = None
        self.table = Table(columns(), self)
        self.found = LibraryFound(self.table)
        self.view = table_view(self.tr("Bases and adapters"), self.found, _GIVES_UP)
        self.search = fields.line(self.tr("Search the library"), self.tr("Search"))
        self.kinds = fields.choice(self.tr("Which kind to show"), [(self.tr("All kinds"), "")])
        self.fits = fields.choice(
            self.tr("Which fit to show"),
            [
                (self.tr("Any fit"), "all"),
                (self.tr("Fits"), "fits"),
                (self.tr("Unsure"), "unsure"),
                (self.tr("Refused"), "refused"),
            ],
        )
        self.against = fields.choice(self.tr("Judge adapters against this base"), ())
        self.demo = button(self.tr("Add the demo adapters"), "layer", on_click=self._add_demo)
        self.count = label(role="muted")
        self.details = Details(services)
        self.empty = self._empty()
        self._arrange()
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        """Look at the library again."""
        chosen = self._chosen
        # Thousands of rows take a while to be made, and the window need not wait for them.
        self._latest.ask(lambda ws: _look(ws, chosen), lambda found: self.show_now(*found))

    def _judge(self) -> None:
        """Have those judged that are in sight, or all where that decides what is."""
        base = self.against.currentData()
        if base is None:
            return
        if self.found.by_fit:
            shown = list(self.table.rows)
        else:
            sight = self.view.rows_in_sight()
            shown = [self.found.row_at(self.found.index(n, 0)) for n in sight]
        adapters = [row.digest for row in shown if row.kind == "adapter" and row.report is None]
        self._services.verdicts.want(base, adapters)

    def _judged_more(self, base: str) -> None:
        if base != self.against.currentData():
            return
        known = self._services.verdicts.on(Digest(base))
        changed = {
            number: replace(row, report=known[row.digest])
            for number, row in enumerate(self.table.rows)
            if row.report is None and row.digest in known
        }
        self.table.change_rows(changed)
        if any(row.digest == self._selected for row in changed.values()):
            self.details.show_row(self.found.row_at(self.view.currentIndex()))

    def _arrange(self) -> None:
        header = self.view.horizontalHeader()
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Stretch)
        for number, width in enumerate(_WIDTHS[1:], 1):
            self.view.setColumnWidth(number, width)
        self.view.setDragEnabled(True)
        self.view.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.search.setMaximumWidth(320)
        self.against.setMaximumWidth(260)
        self._judged = label(self.tr("Fit for"), "muted")
        tools = row(self.search, self.kinds, self.fits, None)
        title = label(self.tr("Library"), "title")
        head = row(title, self.count, None, self._judged, self.against, self.demo)
        self._list = QtWidgets.QWidget()
        layout = column(head, tools, self.view, spacing=16)
        layout.setContentsMargins(24, 24, 24, 24)
        self._list.setLayout(layout)
        self.setLayout(row(self.empty, self._list, self.details, spacing=0))
        self._list.hide()
        self.empty.hide()

    def _connect(self) -> None:
        self.search.textChanged.connect(self.found.search)
        self.kinds.currentIndexChanged.connect(
            lambda: self.found.show_kind(self.kinds.currentData() or "")
        )
        self.fits.currentIndexChanged.connect(lambda: self.found.show_fit(self.fits.currentData()))
        for shown in (self.found.layoutChanged, self.found.modelReset):
            shown.connect(self._count)
        self.view.activated.connect(lambda index: self.details.acts.add_to_stack())
        key(self, "Ctrl+F", self.search.setFocus)
        self._soon = QtCore.QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._judge)
        for moved in (self.view.looked_at, self.found.layoutChanged, self.found.modelReset):
            moved.connect(self._soon.start)
        self.found.rowsInserted.connect(self._soon.start)
        self._services.verdicts.found.connect(self._judged_more)
        self.view.selectionModel().currentRowChanged.connect(self._select)
        self.found.modelReset.connect(self._select_again)
        self.against.currentIndexChanged.connect(self._choose)
        self._services.operations.changed.connect(self._changed)
        self._services.operations.settings_changed.connect(self.refresh)

    def _empty(self) -> Empty:
        made = Empty(
            "library",
            self.tr("Nothing here yet"),
            self.tr(
                "Drop a GGUF model onto this window to begin, then LoRA adapters: GGUF files, "
                "safetensors files or PEFT folders. Nothing is ever written to your files."
            ),
        )
        add = self.tr("Import files…")
        made.add(button(add, "import", kind="primary", on_click=self.import_wanted.emit))
        if embedded_base() is not None:
            use = self.tr("Use the embedded model")
            made.add(button(use, "base", on_click=self._services.use_embedded))
        return made

    def _add_demo(self) -> None:
        self._services.imports.add(adapters())

    def _changed(self, changes: Changes) -> None:
        if changes.bases or changes.adapters or changes.compositions:
            self.refresh()

    def _count(self) -> None:
        shown, of = self.found.rowCount(), self.table.rowCount()
        words = self.tr("{n} of {of}") if shown < of else self.tr("{of}")
        self.count.setText(words.format(n=shown, of=of))

    def show_now(self, now: reads.LibraryNow, made: tuple[LibraryRow, ...]) -> None:
        """Show exactly this."""
        nothing = not now.bases and not now.adapters
        self.empty.setVisible(nothing)
        self._list.setVisible(not nothing)
        self.demo.setVisible(bool(now.bases) and not now.adapters and embedded_base() is not None)
        self._show_bases(now)
        self._show_kinds(made)
        self.table.set_rows(made)
        if now.chosen is not None:
            self._judged_more(now.chosen)
        if not self.view.currentIndex().isValid():
            self.details.show_row(None)

    def _show_bases(self, now: reads.LibraryNow) -> None:
        blocked = self.against.blockSignals(True)
        self.against.clear()
        for base in now.bases:
            self.against.addItem(text.plain(base.name, 40), base.digest)
        self.against.blockSignals(blocked)
        fields.choose(self.against, now.chosen)
        for part in (self.against, self._judged):
            part.setVisible(bool(now.bases) and bool(now.adapters))

    def _show_kinds(self, made: tuple[LibraryRow, ...]) -> None:
        """Offer the kinds that there are. What was chosen stays chosen, though it may be empty."""
        chosen = self.kinds.currentData() or ""
        words = {shown.kind_key: kind_of(shown) for shown in made}
        blocked = self.kinds.blockSignals(True)
        self.kinds.clear()
        self.kinds.addItem(self.tr("All kinds"), "")
        for kind, word in sorted(words.items()):
            self.kinds.addItem(word, kind)
        self.kinds.setCurrentIndex(max(0, self.kinds.findData(chosen)))
        self.kinds.blockSignals(blocked)
        self.found.show_kind(self.kinds.currentData())

    def _choose(self) -> None:
        self._chosen = self.against.currentData()
        self.refresh()

    def _select(self, index: QtCore.QModelIndex) -> None:
        shown: LibraryRow | None = self.found.row_at(index)
        if shown is not None:
            self._selected = shown.digest
        self.details.show_row(shown)

    def _select_again(self) -> None:
        index = self.found.index_of(lambda row: row.digest == self._selected)
        if not index.isValid():
            index = self.found.index(0, 0)
        self.view.setCurrentIndex(index)


def _look(
    workspace: Workspace, chosen: Digest | None
) -> tuple[reads.LibraryNow, tuple[LibraryRow, ...]]:
    now = reads.library(workspace, chosen)
    return now, rows(now)
