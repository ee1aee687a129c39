"""The keys 1 to 9, each of which activates the stack that is pinned to it, from any place.

Where text is typed a digit is a digit; with Alt it switches even there.
"""

from veneer.compose.pins import KEYS
from veneer.compose.stacks import Composition
from veneer_app import reads
from veneer_app.parts.keys import key
from veneer_app.qt import QtCore, QtWidgets, Signal
from veneer_app.services import Services


class PinKeys(QtCore.QObject):
    """Listens while the window is in front; `nothing` has a key that no stack is pinned to."""

    nothing = Signal(int)

    def __init__(self, window: QtWidgets.QWidget, services: Services) -> None:
        super().__init__(window)
        self._services = services
        for number in KEYS:
            for keys in (str(number), f"Alt+{number}"):
                key(window, keys, lambda number=number: self._switch(number))

    def _switch(self, number: int) -> None:
        def go(stack: Composition | None) -> None:
            if stack is None:
                self.nothing.emit(number)
            else:
                self._services.switch.to_stack(stack.id, stack.name or "")

        self._services.operations.read(lambda ws: reads.pinned(ws, number), go)
