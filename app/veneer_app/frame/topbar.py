"""The bar at the top: what is active, what the switch is doing, how fast the last answer was."""

from typing import Literal

from veneer.chat.conversation import Stamp
from veneer.identity import short
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.chat.turns import speed
from veneer_app.operations import Latest
from veneer_app.parts.controls import Elided, button, icon_button, label, row
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.switch import SwitchState
from veneer_app.theme.tokens import current

Light = Literal["idle", "staging", "active", "failed"]
_TONES: dict[Light, str] = {
    "idle": "border_strong",
    "staging": "accent",
    "active": "good",
    "failed": "bad",
}


class Dot(QtWidgets.QWidget):
    """A light. Its meaning is also said in words beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.light: Light = "idle"
        self.setFixedSize(12, 12)

    def set_light(self, light: Light) -> None:
        """Change it."""
        self.light = light
        self.setAccessibleName(light)
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """A filled circle."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(getattr(current(), _TONES[self.light])))
        painter.drawEllipse(QtCore.QRectF(1, 1, 10, 10))


class TopBar(QtWidgets.QFrame):
    """Always there, whatever the place."""

    import_wanted = Signal()
    hub_wanted = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "topbar")
        self._switch = services.switch
        self._latest = Latest(services.operations, self)
        self._active: reads.Active | None = None
        self.dot = Dot()
        self.title = Elided(self.tr("Nothing is active"), "heading")
        self.badge = label(role="badge")
        self.state = label(role="muted")
        self.speed = label(role="muted")
        self.back = button(
            self.tr("Roll back"), "rollback", tip="Ctrl+Shift+R", on_click=self.roll_back
        )
        self.bring = button(
            self.tr("Import…"), "import", tip="Ctrl+O", on_click=self.import_wanted.emit
        )
        self.fetch = icon_button(
            "hub", self.tr("Import from a hub (Ctrl+Shift+O)"), self.hub_wanted.emit
        )
        told = (self.dot, self.title, self.badge, self.state, None, self.speed)
        layout = row(*told, self.back, self.bring, self.fetch)
        layout.setContentsMargins(16, 8, 16, 8)
        self.setLayout(layout)
        services.operations.changed.connect(self._changed)
        services.switch.stated.connect(self._stated)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what is active."""
        self._latest.ask(reads.active, self.show_active)

    def roll_back(self) -> None:
        """Return to the composition before."""
        if self.back.isEnabled():
            self._switch.roll_back()

    def show_stamp(self, stamp: Stamp | None) -> None:
        """Show how fast the last answer was."""
        self.speed.setText(speed(stamp) if stamp is not None else "")

    def _changed(self, changes: Changes) -> None:
        if changes.generations or changes.compositions or changes.bases or changes.adapters:
            self.refresh()

    def show_active(self, active: reads.Active | None) -> None:
        """Show that this is active."""
        self._active = active
        nothing = self.tr("Nothing is active")
        self.title.setText(text.plain(active.title, 80) if active else nothing)
        self.title.updateGeometry()
        self.badge.setText(short(active.composition.id) if active else "")
        self.badge.setVisible(active is not None)
        self._stated(self._switch.state)

    def _stated(self, state: SwitchState) -> None:
        active = self._active
        resting: Light = "active" if active is not None else "idle"
        lights: dict[str, Light] = {"running": "staging", "failed": "failed"}
        self.dot.set_light(lights.get(state.status, resting))
        self.state.setText(self._words(state))
        can = active is not None and active.can_roll_back and state.status != "running"
        self.back.setEnabled(can)

    def _words(self, state: SwitchState) -> str:
        if state.status == "running":
            return self.tr("staging {title}…").format(title=text.plain(state.title, 40))
        if state.status == "failed":
            return self.tr("switch failed")
        return self.tr("active") if self._active is not None else ""
