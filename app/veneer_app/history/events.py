"""One generation: what it is made of, who asked, each transition, and the way back to it."""

from veneer.identity import short
from veneer_app import reads, text
from veneer_app.history.line import Knot
from veneer_app.history.moments import Moment, moments_of
from veneer_app.history.rows import failed, requested_at, state_of, who
from veneer_app.parts.controls import button, clear, column, label, row, scrolled, set_role
from veneer_app.qt import Qt, QtWidgets
from veneer_app.services import Services
from veneer_app.switch import SwitchState


class Events(QtWidgets.QFrame):
    """Shows a generation."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "panel-right")
        self.setFixedWidth(352)
        self._switch = services.switch
        self._past: reads.Past | None = None
        self.title = label(role="title", wrap=True)
        self.state = label(role="badge")
        self.about = label(role="muted", wrap=True, selectable=True)
        self.reason = label(role="bad", wrap=True, selectable=True)
        self.back = button(
            self.tr("Roll back to this"),
            "rollback",
            kind="primary",
            tip="Ctrl+Return",
            on_click=self.roll_back,
        )
        self.moments: tuple[Moment, ...] = ()
        self._line = QtWidgets.QGridLayout()
        self._line.setColumnStretch(1, 1)
        self._line.setHorizontalSpacing(8)
        self._line.setVerticalSpacing(0)
        self._arrange()
        self._switch.stated.connect(self._allow)
        self.hide()

    def show_past(self, past: reads.Past | None) -> None:
        """Show a generation, or nothing."""
        self._past = past
        self.setVisible(past is not None)
        if past is None:
            return
        generation = past.generation
        self.title.setText(self.tr("Generation {n}").format(n=generation.number))
        self.state.setText(state_of(past))
        bad = failed(past)
        set_role(self.state, "badge-bad" if bad else "badge-good" if past.active else "badge")
        self.about.setText(self._about(past))
        self.reason.setText(text.plain(generation.reason, 600))
        self.reason.setVisible(generation.reason is not None)
        set_role(self.reason, "bad" if bad else "muted")
        self._show_line(past)
        self._allow(self._switch.state)

    def roll_back(self) -> None:
        """Return to this generation's composition, where that is possible."""
        if self._past is not None and not self.back.isHidden() and self.back.isEnabled():
            self._switch.roll_back(self._past.generation.number, self._past.title)

    def _arrange(self) -> None:
        inside = QtWidgets.QWidget()
        layout = column(
            self.title,
            row(self.state, None),
            self.about,
            row(self.back, None),
            8,
            self._line,
            self.reason,
            None,
        )
        layout.setContentsMargins(16, 24, 16, 16)
        inside.setLayout(layout)
        self.setLayout(column(scrolled(inside, self.tr("Steps of this generation"))))

    def _about(self, past: reads.Past) -> str:
        generation = past.generation
        lines = [
            past.title,
            *(f"   {text.plain(part, 80)}" for part in reversed(past.parts)),
            self.tr("Composition {id}").format(id=short(generation.composition, 12)),
            self.tr("{who}, {when}").format(
                who=who(generation.requested_by), when=text.when(requested_at(past))
            ),
        ]
        if generation.restores is not None:
            lines.append(self.tr("Rolled back to {n}").format(n=generation.restores))
        said = self.tr("Confirmed: “{adapter}” belongs on “{base}”")
        lines += [
            said.format(adapter=text.plain(adapter, 60), base=text.plain(base, 60))
            for adapter, base in past.confirmed
        ]
        return "\n".join(lines)

    def _show_line(self, past: reads.Past) -> None:
        clear(self._line)
        self.moments = moments_of(past)
        for number, moment in enumerate(self.moments):
            first, last = number == 0, number == len(self.moments) - 1
            for word, took in moment.parts:
                self._add(Knot(None), label(f"   {word}", "muted"), label(took, "muted"))
            knot = Knot(moment.tone, first=first, last=last)
            self._add(knot, label(moment.what), label(moment.after, "muted"), label(moment.at))

    def _add(self, knot: Knot, what: QtWidgets.QLabel, *times: QtWidgets.QLabel) -> None:
        line = self._line.rowCount()
        what.setMinimumHeight(24)
        self._line.addWidget(knot, line, 0)
        self._line.addWidget(what, line, 1)
        for beside, time in enumerate(times, 2):
            self._line.addWidget(time, line, beside, Qt.AlignmentFlag.AlignRight)

    def _allow(self, state: SwitchState) -> None:
        past = self._past
        possible = past is not None and past.generation.state == "COMMITTED" and not past.active
        self.back.setVisible(possible)
        self.back.setEnabled(state.status != "running")
