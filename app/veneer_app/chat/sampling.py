"""How the next token is chosen: the values, and the small panel that changes them."""

from dataclasses import dataclass

from veneer.chat.setup import DEFAULT_MAX_TOKENS, Setup
from veneer.runtime.protocol import Sampling
from veneer_app.parts import fields
from veneer_app.parts.controls import column, label, row
from veneer_app.qt import Qt, QtCore, QtWidgets

_MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Chosen:
    """What was chosen for the next answer. A seed of None is a new one each time."""

    temperature: float = 0.7
    greedy: bool = False
    max_tokens: int = DEFAULT_MAX_TOKENS
    seed: int | None = None

    @property
    def sampling(self) -> Sampling:
        """As the engine wants it: greedy is a temperature of 0."""
        return Sampling(temperature=0.0 if self.greedy else self.temperature, seed=self.seed)

    @property
    def setup(self) -> Setup:
        """As a conversation keeps it."""
        return Setup(sampling=self.sampling, max_tokens=self.max_tokens)


class SamplingPanel(QtWidgets.QFrame):
    """A panel that opens above its button and closes by itself."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName(self.tr("Sampling"))
        start = Chosen()
        self.greedy = QtWidgets.QCheckBox(self.tr("Greedy: always the likeliest token"))
        self.greedy.setAccessibleName(self.greedy.text())
        self.temperature = fields.decimal(self.tr("Temperature"), 0.05, 5)
        self.temperature.setValue(start.temperature)
        self.max_tokens = fields.whole(self.tr("Most tokens"), 1, 32768, 64)
        self.max_tokens.setValue(start.max_tokens)
        self.seed = fields.whole(self.tr("Seed"), -1, _MOST_SEED)
        self.seed.setSpecialValueText(self.tr("random"))
        self.seed.setValue(-1)
        self.greedy.toggled.connect(self._allow)
        self._arrange()

    @property
    def chosen(self) -> Chosen:
        """What is chosen now."""
        seed = self.seed.value()
        return Chosen(
            temperature=self.temperature.value(),
            greedy=self.greedy.isChecked(),
            max_tokens=self.max_tokens.value(),
            seed=None if seed < 0 else seed,
        )

    def open_above(self, anchor: QtWidgets.QWidget) -> None:
        """Open just above a button."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QtCore.QPoint(anchor.width() - self.width(), 0))
        self.move(corner - QtCore.QPoint(0, self.height() + 8))
        self.show()
        self.temperature.setFocus()

    def _arrange(self) -> None:
        layout = column(label(self.tr("Sampling"), "heading"), self.greedy, spacing=12)
        lines = (
            (self.tr("Temperature"), self.temperature),
            (self.tr("Most tokens"), self.max_tokens),
            (self.tr("Seed"), self.seed),
        )
        for name, field in lines:
            field.setFixedWidth(136)
            layout.addLayout(row(label(name), None, field))
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)

    def _allow(self, greedy: bool) -> None:
        self.temperature.setEnabled(not greedy)
        self.seed.setEnabled(not greedy)
