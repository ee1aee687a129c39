"""The switch drawn small: validate, stage, commit, each with its time once it is done."""

from veneer_app import text
from veneer_app.parts.controls import icon_button, label, row, set_role
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.switch import STEPS, Switch, SwitchState


class Steps(QtWidgets.QWidget):
    """Follows the switch; hidden until it was first used."""

    def __init__(self, switch: Switch) -> None:
        super().__init__()
        words = (self.tr("Validate"), self.tr("Stage"), self.tr("Commit"))
        self.steps = {step: label(word, "step") for step, word in zip(STEPS, words, strict=True)}
        self._words = dict(zip(STEPS, words, strict=True))
        self.said = label(role="muted")
        self.cancel = icon_button("stop", self.tr("Stop this activation"), switch.cancel)
        layout = row(*self.steps.values(), self.said, self.cancel, None)
        layout.setContentsMargins(10, 0, 0, 0)
        self.setLayout(layout)
        self.setAccessibleName(self.tr("Activation"))
        switch.stated.connect(self.show_state)
        self.hide()

    def sizeHint(self) -> QtCore.QSize:  # noqa: N802
        """As high with the stop button as without."""
        return QtCore.QSize(super().sizeHint().width(), 32)

    def show_state(self, state: SwitchState) -> None:
        """Show where the switch is."""
        self.setVisible(state.status != "idle")
        self.cancel.setVisible(state.status == "running")
        due: str | None = next((step for step in STEPS if step not in state.took_ms), None)
        for step, shown in self.steps.items():
            took = state.took_ms.get(step)
            shown.setText(
                self._words[step] if took is None else f"{self._words[step]} {_time(took)}"
            )
            failed = state.status == "failed" and step == due
            now = state.status == "running" and step == due
            set_role(shown, _role(done=took is not None, now=now, failed=failed))
            shown.setVisible(not state.unchanged)
        self.said.setText(self._say(state))

    def _say(self, state: SwitchState) -> str:
        if state.unchanged:
            return self.tr("Active already; nothing had to be done.")
        if state.status == "failed":
            return self.tr("Not activated; what was active still is.")
        return ""


def _time(took: float) -> str:
    return text.milliseconds(round(took))


def _role(*, done: bool, now: bool, failed: bool) -> str:
    if failed:
        return "step-bad"
    return "step-done" if done else "step-now" if now else "step"
