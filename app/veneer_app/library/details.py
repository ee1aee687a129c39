"""The pane beside the table: everything about one base or adapter, and what its owner notes."""

from veneer.store.records import StoredAdapter
from veneer_app import text
from veneer_app.library.facts import facts_of
from veneer_app.library.rows import LibraryRow, kind_of, tone_of, verdict
from veneer_app.parts import fields
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import (
    Elided,
    button,
    clear,
    column,
    label,
    row,
    scrolled,
    set_role,
)
from veneer_app.qt import Qt, QtCore, QtWidgets
from veneer_app.services import Services

_WIDTH = 272


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
        self.remove = button(self.tr("Remove…"), "trash", kind="danger", on_click=self._ask)
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
        self.name.setCursorPosition(0)
        self.kind.setText(kind_of(shown))
        self._show_verdict(shown)
        self._show_facts(shown)
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
            row(self.remove, None),
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
        for number, (name, value) in enumerate(facts_of(shown.stored, shown.context)):
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

    def _ask(self) -> None:
        shown = self._row
        if shown is None:
            return
        confirm(
            self,
            self.tr("Remove “{name}”?").format(name=shown.name),
            self.tr("It leaves the library. The file it was imported from stays where it is."),
            self.tr("Remove"),
            lambda: self._operations.do(lambda ws: ws.forget(f"{shown.kind}:{shown.digest}")),
        )


class Notes(QtWidgets.QWidget):
    """What an owner notes about an adapter."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._operations = services.operations
        self._stored: StoredAdapter | None = None
        self.strength = fields.decimal(self.tr("Default strength"), -100, 100)
        self.trigger = fields.line(self.tr("Trigger text"), self.tr("Words that call it"))
        self.notes = fields.several_lines(self.tr("Notes"), self.tr("Anything worth remembering"))
        self.notes.installEventFilter(self)
        self.strength.valueChanged.connect(self._keep)
        self.trigger.editingFinished.connect(self._keep)
        self.setLayout(
            column(
                row(label(self.tr("Default strength"), "muted"), None, self.strength),
                label(self.tr("Trigger text"), "muted"),
                self.trigger,
                label(self.tr("Notes"), "muted"),
                self.notes,
                8,
                spacing=4,
            )
        )

    def show_adapter(self, stored: StoredAdapter) -> None:
        """Show an adapter's notes. What is being typed is not overwritten by the same."""
        self._stored = None
        self.strength.setValue(stored.default_scale)
        self.trigger.setText(stored.trigger_text)
        if self.notes.toPlainText() != stored.notes:
            self.notes.setPlainText(stored.notes)
        self._stored = stored

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:  # noqa: N802
        """Keep the notes when their field is left."""
        if event.type() == QtCore.QEvent.Type.FocusOut:
            self._keep()
        return super().eventFilter(watched, event)

    def _keep(self) -> None:
        stored = self._stored
        if stored is None:
            return
        scale, trigger = self.strength.value(), self.trigger.text()
        notes = self.notes.toPlainText()
        if (scale, trigger, notes) == (stored.default_scale, stored.trigger_text, stored.notes):
            return
        self._operations.do(
            lambda ws: ws.library.update_adapter(
                stored.digest, default_scale=scale, trigger_text=trigger, notes=notes
            )
        )
