"""The History: every generation, newest first, and the way back to any that was active."""

from veneer.activation.journal import Generation
from veneer.identity import short
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.history.rows import columns, requested_at, state_of, stopped, who
from veneer_app.operations import Latest
from veneer_app.parts.controls import button, clear, column, label, row, scrolled, set_role
from veneer_app.parts.empty import Empty
from veneer_app.parts.table import Found, Table, table_view
from veneer_app.qt import Qt, QtCore, QtWidgets
from veneer_app.services import Services
from veneer_app.switch import SwitchState, took_of

_WIDTHS = {0: 48, 2: 96, 3: 152, 4: 72}


class HistoryPlace(QtWidgets.QWidget):
    """What was active when, and what failed."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._latest = Latest(services.operations, self)
        self._selected: int | None = None
        self.table = Table(columns(), self)
        self.found = Found(self.table)
        self.view = table_view(self.tr("Generations"), self.found)
        self.events = Events(services)
        self.empty = Empty(
            "history",
            self.tr("Nothing has been active yet"),
            self.tr(
                "Each time a stack is activated, a generation is written down here with its "
                "steps and times. You can return to any of them."
            ),
        )
        self._arrange()
        self.view.selectionModel().currentRowChanged.connect(self._select)
        self.found.modelReset.connect(self._select_again)
        services.operations.changed.connect(self._changed)
        self.refresh()

    def refresh(self) -> None:
        """Read the journal again."""
        self._latest.ask(reads.generations, self.show_now)

    def _arrange(self) -> None:
        header = self.view.horizontalHeader()
        header.setSectionResizeMode(1, QtWidgets.QHeaderView.ResizeMode.Stretch)
        for number, width in _WIDTHS.items():
            self.view.setColumnWidth(number, width)
        self.view.sortByColumn(0, Qt.SortOrder.DescendingOrder)
        self._list = QtWidgets.QWidget()
        layout = column(label(self.tr("History"), "title"), self.view, spacing=16)
        layout.setContentsMargins(24, 24, 24, 24)
        self._list.setLayout(layout)
        self.setLayout(row(self.empty, self._list, self.events, spacing=0))
        self._list.hide()
        self.empty.hide()

    def _changed(self, changes: Changes) -> None:
        if changes.generations or changes.compositions:
            self.refresh()

    def show_now(self, past: tuple[reads.Past, ...]) -> None:
        """Show exactly these."""
        self.empty.setVisible(not past)
        self._list.setVisible(bool(past))
        self.table.set_rows(past)

    def _select(self, index: QtCore.QModelIndex) -> None:
        past: reads.Past | None = self.found.row_at(index)
        if past is not None:
            self._selected = past.generation.number
        self.events.show_past(past)

    def _select_again(self) -> None:
        index = self.found.index_of(lambda row: row.generation.number == self._selected)
        if not index.isValid():
            index = self.found.index(0, 0)
        self.view.setCurrentIndex(index)


class Events(QtWidgets.QFrame):
    """One generation: its steps with their times, why it failed, and the way back to it."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "panel-right")
        self.setFixedWidth(288)
        self._switch = services.switch
        self._past: reads.Past | None = None
        self.title = label(role="title", wrap=True)
        self.state = label(role="badge")
        self.about = label(role="muted", wrap=True, selectable=True)
        self.reason = label(role="bad", wrap=True, selectable=True)
        self.back = button(
            self.tr("Roll back to this"), "rollback", kind="primary", on_click=self._roll_back
        )
        self._steps = QtWidgets.QGridLayout()
        self._steps.setColumnStretch(0, 1)
        self._steps.setVerticalSpacing(8)
        inside = QtWidgets.QWidget()
        layout = column(
            self.title,
            row(self.state, None),
            self.about,
            self.reason,
            8,
            self._steps,
            16,
            row(self.back, None),
            None,
        )
        layout.setContentsMargins(16, 24, 16, 16)
        inside.setLayout(layout)
        self.setLayout(column(scrolled(inside, self.tr("Steps of this generation"))))
        self._switch.stated.connect(self._allow)
        self.hide()

    def show_past(self, past: reads.Past | None) -> None:
        """Show a generation, or nothing."""
        self._past = past
        self.setVisible(past is not None)
        if past is None:
            return
        generation = past.generation
        number = self.tr("Generation {n}").format(n=generation.number)
        self.title.setText(number)
        self.state.setText(state_of(past))
        bad = generation.state == "ABORTED" and not stopped(past)
        set_role(self.state, "badge-bad" if bad else "badge-good" if past.active else "badge")
        self.about.setText(self._about(past))
        self.reason.setText(text.plain(generation.reason, 600))
        self.reason.setVisible(generation.reason is not None)
        set_role(self.reason, "bad" if bad else "muted")
        self._show_steps(generation)
        self._allow(self._switch.state)

    def _about(self, past: reads.Past) -> str:
        generation = past.generation
        lines = [
            past.title,
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

    def _show_steps(self, generation: Generation) -> None:
        clear(self._steps)
        words = {
            "validate": self.tr("Validate"),
            "stage": self.tr("Stage"),
            "stage_base": self.tr("   load the base"),
            "stage_adapters": self.tr("   load the adapters"),
            "stage_probe": self.tr("   probe"),
            "COMMITTED": self.tr("Commit"),
        }
        took = {**generation.timings_ms, **took_of(generation)}
        steps = [(word, took[key]) for key, word in words.items() if key in took]
        for number, (word, value) in enumerate(steps):
            inner = word.startswith(" ")
            self._steps.addWidget(label(word, "muted" if inner else ""), number, 0)
            time = label(text.milliseconds(value), "muted" if inner else "")
            self._steps.addWidget(time, number, 1, Qt.AlignmentFlag.AlignRight)

    def _allow(self, state: SwitchState) -> None:
        past = self._past
        possible = past is not None and past.generation.state == "COMMITTED" and not past.active
        self.back.setVisible(possible)
        self.back.setEnabled(state.status != "running")

    def _roll_back(self) -> None:
        if self._past is not None:
            self._switch.roll_back(self._past.generation.number, self._past.title)
