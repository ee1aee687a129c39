"""What the owners of the active adapters noted about talking to them.

The words that call an adapter are put into the question when asked for. Where an adapter was
trained to be told something first and this conversation does not tell it, that is said.
"""

from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.operations import Latest, Operations
from veneer_app.parts.controls import button, clear, column, escaped, label, row
from veneer_app.qt import QtWidgets, Signal

_LONGEST = 32


class Hints(QtWidgets.QWidget):
    """`trigger_wanted` has words for the question, `prompt_wanted` a system prompt."""

    trigger_wanted = Signal(str)
    prompt_wanted = Signal(str)

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._latest = Latest(operations, self)
        self._hints: tuple[reads.Hint, ...] = ()
        self._system = ""
        self.triggers: list[QtWidgets.QPushButton] = []
        self.prompts: list[QtWidgets.QPushButton] = []
        self._words = row()
        self._warnings = column(spacing=4)
        self.setLayout(column(row(self._words, None), self._warnings, spacing=4))
        operations.changed.connect(self._changed)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what is active."""
        self._latest.ask(reads.hints, self._show)

    def show_system(self, system: str) -> None:
        """What the conversation tells first."""
        if system != self._system:
            self._system = system
            self._show(self._hints)

    def _changed(self, changes: Changes) -> None:
        if changes.generations or changes.adapters:
            self.refresh()

    def _show(self, hints: tuple[reads.Hint, ...]) -> None:
        self._hints = hints
        for layout in (self._words, self._warnings):
            clear(layout)
        self.triggers = [self._trigger(hint) for hint in hints if hint.trigger]
        for made in self.triggers:
            self._words.addWidget(made)
        untold = [h for h in hints if h.system_prompt.strip() not in ("", self._system.strip())]
        self.prompts = [self._prompt(hint) for hint in untold]
        self.setVisible(bool(self.triggers or untold))

    def _trigger(self, hint: reads.Hint) -> QtWidgets.QPushButton:
        words = text.plain(hint.trigger, _LONGEST).replace("&", "&&")
        tip = self.tr("Put the words that call “{name}” into the question")
        said = escaped(tip.format(name=text.plain(hint.name, 60)))
        return button(
            words,
            "plus",
            kind="chip",
            tip=said,
            on_click=lambda: self.trigger_wanted.emit(hint.trigger),
        )

    def _prompt(self, hint: reads.Hint) -> QtWidgets.QPushButton:
        name = text.plain(hint.name, 40)
        said = self.tr("“{name}” is meant to be used with a system prompt of its own.")
        use = button(
            self.tr("Use it"),
            kind="quiet",
            tip=escaped(text.plain(hint.system_prompt, 400)),
            on_click=lambda: self.prompt_wanted.emit(hint.system_prompt.strip()),
        )
        use.setAccessibleName(self.tr("Use the system prompt of {name}").format(name=name))
        line = QtWidgets.QWidget()
        line.setLayout(row(label(said.format(name=name), "muted"), use, None))
        self._warnings.addWidget(line)
        return use
