"""What an owner notes about an adapter: kept as soon as a field is left."""

from typing import Any

from veneer.store.records import StoredAdapter
from veneer_app.parts import fields
from veneer_app.parts.controls import column, icon_button, label, row
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.services import Services


class Notes(QtWidgets.QWidget):
    """Default strength, trigger text, tags, notes, recommended system prompt, license."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._operations = services.operations
        self._stored: StoredAdapter | None = None
        self.strength = fields.decimal(self.tr("Default strength"), -100, 100)
        self.trigger = fields.line(self.tr("Trigger text"), self.tr("Words that call it"))
        self.copy = icon_button("copy", self.tr("Copy the trigger text"), self._copy_trigger)
        self.tags = fields.line(self.tr("Tags"), self.tr("With commas between them"))
        self.notes = fields.several_lines(self.tr("Notes"), self.tr("Anything worth remembering"))
        self.prompt = fields.several_lines(
            self.tr("Recommended system prompt"), self.tr("What it was trained to be told first")
        )
        self.license = fields.line(self.tr("License"), self.tr("If you know it"))
        self.setLayout(self._arrange())
        self.strength.valueChanged.connect(self._keep)
        for line in (self.trigger, self.tags, self.license):
            line.editingFinished.connect(self._keep)
        for several in (self.notes, self.prompt):
            several.installEventFilter(self)

    def show_adapter(self, stored: StoredAdapter) -> None:
        """Show an adapter's notes. What is being typed is not overwritten by the same."""
        self._stored = None
        self.strength.setValue(stored.default_scale)
        self.trigger.setText(stored.trigger_text)
        self.tags.setText(", ".join(stored.tags))
        self.license.setText(stored.license)
        for line in (self.trigger, self.tags, self.license):
            line.setCursorPosition(0)
        for several, said in ((self.notes, stored.notes), (self.prompt, stored.system_prompt)):
            if several.toPlainText() != said:
                several.setPlainText(said)
        self._stored = stored

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:  # noqa: N802
        """Keep what has several lines when its field is left."""
        if event.type() == QtCore.QEvent.Type.FocusOut:
            self._keep()
        return super().eventFilter(watched, event)

    def _arrange(self) -> QtWidgets.QVBoxLayout:
        made = column(
            row(label(self.tr("Default strength"), "muted"), None, self.strength), spacing=4
        )
        for name, part in (
            (self.tr("Trigger text"), row(self.trigger, self.copy, spacing=4)),
            (self.tr("Tags"), row(self.tags)),
            (self.tr("Notes"), row(self.notes)),
            (self.tr("Recommended system prompt"), row(self.prompt)),
            (self.tr("License"), row(self.license)),
        ):
            made.addWidget(label(name, "muted"))
            made.addLayout(part)
        made.addSpacing(8)
        return made

    def _copy_trigger(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self.trigger.text())

    def _typed(self) -> dict[str, Any]:
        tags = (tag.strip() for tag in self.tags.text().split(","))
        return {
            "default_scale": self.strength.value(),
            "trigger_text": self.trigger.text(),
            "tags": tuple(tag for tag in tags if tag),
            "notes": self.notes.toPlainText(),
            "system_prompt": self.prompt.toPlainText(),
            "license": self.license.text(),
        }

    def _keep(self) -> None:
        stored = self._stored
        if stored is None:
            return
        typed = {k: v for k, v in self._typed().items() if v != getattr(stored, k)}
        if typed:
            self._operations.do(lambda ws: ws.library.update_adapter(stored.digest, **typed))
