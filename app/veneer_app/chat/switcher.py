"""The row of chips above the input: one click, and another composition answers."""

from veneer_app import reads, text
from veneer_app.operations import Latest
from veneer_app.parts.controls import button, clear, row, scrolled
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.switch import SwitchState

_LONGEST = 24


class Switcher(QtWidgets.QWidget):
    """Each base alone, then the saved stacks; the active one is marked.

    `chosen` says that another was asked for: until it is active no chip can have the keyboard.
    """

    chosen = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._latest = Latest(services.operations, self)
        self.chips: list[QtWidgets.QPushButton] = []
        self._row = row()
        inside = QtWidgets.QWidget()
        inside.setLayout(row(self._row, None, spacing=0))
        area = scrolled(inside, self.tr("What answers"))
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFixedHeight(40)
        self.setLayout(row(area))
        self._area = area
        services.switch.stated.connect(self._stated)
        services.operations.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what can be activated."""
        self._latest.ask(reads.choices, self.show_choices)

    def show_choices(self, choices: tuple[reads.Choice, ...]) -> None:
        """Offer exactly these."""
        clear(self._row)
        self.chips = []
        bases = [c for c in choices if c.composition is None]
        for choice in choices:
            only = choice.composition is None and len(bases) == 1
            title = self.tr("Base only") if only else text.plain(choice.title, _LONGEST)
            self.chips.append(self._chip(title, choice))
            self._row.addWidget(self.chips[-1])
        self._stated(self._services.switch.state)
        # The chips have their places only after the layout has run.
        QtCore.QTimer.singleShot(0, self, self._show_active)

    def _chip(self, title: str, choice: reads.Choice) -> QtWidgets.QPushButton:
        made = button(title.replace("&", "&&"), kind="chip")
        made.setAccessibleName(title)
        made.setCheckable(True)
        made.setChecked(choice.active)
        # A click only asks. What is checked is what is active, and that is told by `refresh`.
        made.clicked.connect(lambda: made.setChecked(choice.active))
        made.clicked.connect(lambda: self._ask(choice))
        return made

    def _ask(self, choice: reads.Choice) -> None:
        if not choice.active:
            self.chosen.emit()
            self._services.switch.to_choice(choice)

    def _stated(self, state: SwitchState) -> None:
        for chip in self.chips:
            chip.setEnabled(state.status != "running")

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """What is active stays in sight."""
        super().resizeEvent(event)
        self._show_active()

    def _show_active(self) -> None:
        for chip in self.chips:
            if chip.isChecked():
                self._area.ensureWidgetVisible(chip, 48, 0)
