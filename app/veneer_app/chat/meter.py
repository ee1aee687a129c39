"""How full the context is, and what happens when it is full."""

from veneer_app.chat.turns import Filled
from veneer_app.parts.controls import Elided, row, set_role
from veneer_app.qt import QtWidgets

_NEARLY = 0.8


class Meter(QtWidgets.QWidget):
    """A small bar with its numbers. Nothing where it is not known."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = QtWidgets.QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(64)
        self.bar.setAccessibleName(self.tr("How full the context is"))
        self.words = Elided(role="muted")
        self.setToolTip(
            self.tr(
                "Tokens of this conversation in the context. When it is full, the oldest turns "
                "are not told to the model any more; they stay in the conversation."
            )
        )
        self.setLayout(row(self.bar, self.words))
        self.show_filled(Filled())

    def show_filled(self, filled: Filled) -> None:
        """Show these numbers."""
        self.setVisible(bool(filled.of))
        self.bar.setMaximum(max(1, filled.of))
        self.bar.setValue(min(filled.used, filled.of))
        said = self.tr("{used} of {of} tokens").format(used=f"{filled.used:,}", of=f"{filled.of:,}")
        if filled.left_out:
            said = self.tr("{said}, {n} messages left out").format(said=said, n=filled.left_out)
        self.words.setText(said)
        set_role(self.words, "bad" if filled.used > _NEARLY * filled.of else "muted")
