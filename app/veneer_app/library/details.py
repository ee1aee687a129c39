"""The pane beside the table: everything about one base or adapter, and what its owner notes."""

from veneer.store.records import StoredAdapter
from veneer_app import text
from veneer_app.library.actions import Actions
from veneer_app.library.facts import facts_of
from veneer_app.library.notes import Notes
from veneer_app.library.rows import LibraryRow, kind_of, tone_of, verdict
from veneer_app.parts import fields
from veneer_app.parts.controls import (
    Elided,
    clear,
    column,
    escaped,
    label,
    row,
    scrolled,
    set_role,
)
from veneer_app.qt import Qt, QtWidgets
from veneer_app.services import Services

_WIDTH = 336


class Details(QtWidgets.QFrame):
    """Shows a row; keeps what is changed here as soon as a field is left."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "panel-right")
        self.setFixedWidth(_WIDTH)
        self._operations = services.operations
        self._row: LibraryRow | None = None
        self.name = fields.line(self.tr("Name"), role="heading")
        self.name.editingFinished.connect(self._rename)
        self.kind = label(role="badge")
        self.verdict = label(wrap=True, selectable=True)
        self.warnings = label(role="bad", wrap=True, selectable=True)
        self.facts = QtWidgets.QGridLayout()
        self.notes = Notes(services)
        self.acts = Actions(services)
        inside = QtWidgets.QWidget()
        inside.setLayout(self._layout())
        outer = column(scrolled(inside, self.tr("Details")))
        self.setLayout(outer)
        self.hide()

    def show_row(self, shown: LibraryRow | None) -> None:
        """Show a row, or nothing."""
        self._row = shown
        self.setVisible(shown is not None)
        if shown is None:
            return
        self.name.setText(shown.name)
        self.name.setToolTip(escaped(shown.name))
        self.name.setCursorPosition(0)
        self.kind.setText(kind_of(shown))
        self._show_verdict(shown)
        self._show_facts(shown)
        self.acts.show_row(shown)
        is_adapter = isinstance(shown.stored, StoredAdapter)
        self.notes.setVisible(is_adapter)
        if isinstance(shown.stored, StoredAdapter):
            self.notes.show_adapter(shown.stored)

    def _layout(self) -> QtWidgets.QVBoxLayout:
        self.facts.setContentsMargins(0, 0, 0, 0)
        self.facts.setHorizontalSpacing(8)
        self.facts.setVerticalSpacing(6)
        self.facts.setColumnStretch(1, 1)
        made = column(
            self.name,
            row(self.kind, None),
            self.verdict,
            self.warnings,
            8,
            self.notes,
            self.facts,
            16,
            self.acts,
            None,
        )
        made.setContentsMargins(16, 16, 16, 16)
        return made

    def _show_verdict(self, shown: LibraryRow) -> None:
        report, stored = shown.report, shown.stored
        self.verdict.setVisible(report is not None)
        if report is not None:
            self.verdict.setText(verdict(report))
            set_role(self.verdict, tone_of(report))
        found = stored.adapter.warnings if isinstance(stored, StoredAdapter) else ()
        self.warnings.setText("\n".join(text.plain(w, 300) for w in found[:5]))
        self.warnings.setVisible(bool(found))

    def _show_facts(self, shown: LibraryRow) -> None:
        clear(self.facts)
        for number, (name, value) in enumerate(facts_of(shown.stored, shown.context, shown.users)):
            caption = label(name, "muted")
            known = Elided(value)
            known.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
            known.setAccessibleName(f"{name}: {value}")
            self.facts.addWidget(caption, number, 0)
            self.facts.addWidget(known, number, 1)

    def _rename(self) -> None:
        shown, wanted = self._row, self.name.text().strip()
        if shown is None or wanted == shown.name:
            return
        if not wanted:
            self.name.setText(shown.name)
            return
        if shown.kind == "base":
            self._operations.do(lambda ws: ws.library.rename_base(shown.digest, wanted))
        else:
            self._operations.do(lambda ws: ws.library.update_adapter(shown.digest, name=wanted))
