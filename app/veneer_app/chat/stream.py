"""The answer as it comes: pieces arrive on another thread and are shown some thirty times a second.

Drawing each token would spend more time on drawing than the model does on thinking.
"""

from collections import deque
from time import perf_counter

from veneer_app.qt import QtCore, Signal

_EVERY_MS = 30


class Stream(QtCore.QObject):
    """Collects pieces; `grew` has all of the text so far, on the main thread."""

    grew = Signal(str)

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._pieces: deque[str] = deque()
        self.text = ""
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self._drain)

    def begin(self, begun: str = "") -> None:
        """Start with nothing, or with an answer that goes on."""
        self._pieces.clear()
        self.text = begun
        self._timer.start(_EVERY_MS)

    def feed(self, piece: str) -> None:
        """Take a piece, from any thread."""
        self._pieces.append(piece)

    def end(self) -> None:
        """Show what is left and rest."""
        self._timer.stop()
        self._drain()

    def _drain(self) -> None:
        arrived = []
        while self._pieces:
            arrived.append(self._pieces.popleft())
        if not arrived:
            return
        self.text += "".join(arrived)
        started = perf_counter()
        self.grew.emit(self.text)
        # Long answers take longer to lay out; drawing never takes more than a third of the time.
        spent = (perf_counter() - started) * 1000
        self._timer.setInterval(max(_EVERY_MS, round(spent * 3)))
