"""What can be done with a whole stack: the menu beside its name."""

from collections.abc import Mapping

from veneer.compose.pins import KEYS
from veneer_app import text
from veneer_app.qt import QtGui, QtWidgets, Signal

translate = text.translate


class StackMenu(QtWidgets.QMenu):
    """Asks for things. `pin_wanted` has a key, or 0 for none."""

    pin_wanted = Signal(int)

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.duplicate = self.addAction(self.tr("Duplicate"))
        self.rename = self.addAction(self.tr("Rename"))
        self.export = self.addAction(self.tr("Export…"))
        self.pins = QtWidgets.QMenu(self.tr("Pin to a key"), self)
        self.addMenu(self.pins)
        self.addSeparator()
        self.remove = self.addAction(self.tr("Remove…"))
        self._keys = [self._key(key) for key in (*KEYS, 0)]

    def allow(self, *, saved: bool, possible: bool) -> None:
        """What makes sense: with a stack that is saved, or at least with something to save."""
        for action in (self.rename, self.export, self.pins.menuAction(), self.remove):
            action.setEnabled(saved)
        self.duplicate.setEnabled(possible)

    def show_pins(self, pins: Mapping[int, str], stack: str) -> None:
        """Which stack is under which key, this one checked."""
        for action in self._keys:
            key = action.data()
            here = pins.get(key)
            words = self.tr("Key {key}: {stack}") if here else self.tr("Key {key}")
            name = text.plain(here, 32).replace("&", "&&")
            action.setText(words.format(key=key, stack=name) if key else self.tr("No key"))
            action.setChecked(here == stack if key else stack not in pins.values())

    def _key(self, key: int) -> QtGui.QAction:
        made = self.pins.addAction("")
        made.setData(key)
        made.setCheckable(True)
        made.triggered.connect(lambda: self.pin_wanted.emit(key))
        return made
