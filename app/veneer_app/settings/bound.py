"""Fields that stand for settings: what is shown comes from them, what is changed goes to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veneer.store.settings import Settings
from veneer_app.parts import fields
from veneer_app.qt import QtWidgets

MEGABYTE = 1_000_000
_WIDTH = 216


@dataclass(frozen=True)
class Bound:
    """One setting and its field. `unit` is how much of the setting 1 in the field stands for."""

    name: str
    caption: str
    field: fields.Whole | QtWidgets.QComboBox | QtWidgets.QCheckBox | fields.Line
    unit: int = 1

    def show(self, settings: Settings) -> None:
        """Show what is kept, without telling anybody."""
        value, field = getattr(settings, self.name), self.field
        blocked = field.blockSignals(True)
        if isinstance(field, fields.Whole):
            field.setValue(value // self.unit)
        elif isinstance(field, QtWidgets.QComboBox):
            fields.choose(field, value)
        elif isinstance(field, fields.Line):
            field.setText(value)
        else:
            field.setChecked(value)
        field.blockSignals(blocked)

    def value(self) -> Any:
        """What the field says."""
        if isinstance(self.field, fields.Whole):
            return self.field.value() * self.unit
        if isinstance(self.field, QtWidgets.QComboBox):
            return self.field.currentData()
        if isinstance(self.field, fields.Line):
            return self.field.text().strip()
        return self.field.isChecked()

    def on_change(self, keep: Any) -> None:
        """Have `keep` called with the setting's name and value when a person changes it."""
        field = self.field
        if isinstance(field, fields.Whole):
            changed = field.valueChanged
        elif isinstance(field, QtWidgets.QComboBox):
            changed = field.currentIndexChanged
        elif isinstance(field, fields.Line):
            changed = field.editingFinished
        else:
            changed = field.toggled
        changed.connect(lambda: self._tell(keep))

    def _tell(self, keep: Any) -> None:
        if isinstance(self.field, fields.Line):
            # Leaving the field ends the editing, too, although nobody may have edited.
            if not self.field.isModified():
                return
            self.field.setModified(False)
        keep(**{self.name: self.value()})


def words(name: str, caption: str, empty: str) -> Bound:
    """A name that is typed; `empty` is what none means."""
    field = fields.line(caption, empty)
    field.setMaxLength(100)
    field.setFixedWidth(_WIDTH)
    return Bound(name, caption, field)


def number(name: str, caption: str, low: int, high: int, step: int = 1) -> Bound:
    """A whole number."""
    return Bound(name, caption, _sized(fields.whole(caption, low, high, step)))


def megabytes(name: str, caption: str, zero: str) -> Bound:
    """Bytes, typed as megabytes; `zero` is what none of them means."""
    field = _sized(fields.whole(caption, 0, 4_000_000, 256))
    field.setSpecialValueText(zero)
    field.setSuffix(" MB")
    return Bound(name, caption, field, MEGABYTE)


def one_of(name: str, caption: str, options: Sequence[tuple[str, object]]) -> Bound:
    """One of several, as (text, value) pairs."""
    field = fields.choice(caption, options)
    field.setFixedWidth(_WIDTH)
    return Bound(name, caption, field)


def yes_or_no(name: str, caption: str, said: str) -> Bound:
    """Something that is so or not; `said` is what it means that it is so."""
    field = QtWidgets.QCheckBox(said)
    field.setAccessibleName(f"{caption}: {said}")
    return Bound(name, caption, field)


def _sized(field: fields.Whole) -> fields.Whole:
    field.setFixedWidth(_WIDTH)
    return field
