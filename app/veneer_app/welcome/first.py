"""The first run: choose a model, drop an adapter, say hello.

It begins where there is no base yet, each step turns to the next by itself when what it asks for
has come in, by whatever road, and all of it is over when something is active or it was skipped.
"""

from veneer.demo import adapters, embedded_base
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.operations import Latest
from veneer_app.parts import fields
from veneer_app.parts.controls import button, column, label, row, set_role
from veneer_app.parts.empty import Empty
from veneer_app.qt import Qt, QtGui, QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.switch import SwitchState
from veneer_app.welcome.beginning import STEPS, Beginning, Step, look

_DEMO = 0
"""The demo adapter whose effect is seen in any answer."""


class FirstRun(QtWidgets.QWidget):
    """Three steps. `greeted` has the first question, once something runs that can answer it."""

    import_wanted = Signal()
    greeted = Signal(str)
    ended = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._latest = Latest(services.operations, self)
        self._beginning = Beginning()
        self._begun = self._over = self._without_adapter = False
        self._hello = ""
        self.step: Step = "model"
        self._make_buttons()
        self.marks = {step: label(role="step") for step in STEPS}
        self.pages = {"model": self._model(), "adapter": self._adapter(), "hello": self._greet()}
        self._stack = QtWidgets.QStackedWidget()
        for page in self.pages.values():
            self._stack.addWidget(page)
        self._arrange()
        services.operations.changed.connect(self._changed)
        services.switch.stated.connect(self._stated)
        self._show(Beginning())

    def follow(self, start: reads.Start) -> bool:
        """Whether there is still something to be begun with."""
        self._begun = self._begun or not start.has_base
        self._over = self._over or start.running
        return self._begun and not self._over

    def skip(self) -> None:
        """Leave it to the person."""
        self._over = True
        self.ended.emit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:  # noqa: N802
        """The keyboard is where the next step is done."""
        super().showEvent(event)
        self._focus()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:  # noqa: N802
        """Enter presses the button that has the focus, as the space bar does."""
        focused = self.focusWidget()
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if entered and isinstance(focused, QtWidgets.QPushButton):
            focused.click()
        else:
            super().keyPressEvent(event)

    def _make_buttons(self) -> None:
        wanted = self.import_wanted.emit
        self.embedded = button(
            self.tr("Use the embedded model"), "base", kind="primary", on_click=self._use_embedded
        )
        self.own = button(self.tr("Choose a GGUF file…"), "import", on_click=wanted)
        self.demo = button(
            self.tr("Take a demo adapter"), "layer", kind="primary", on_click=self._use_demo
        )
        self.choose = button(self.tr("Choose an adapter…"), "import", on_click=wanted)
        self.without = button(self.tr("Go on without"), kind="quiet", on_click=self._go_without)
        self.question = fields.line(self.tr("Your first question"))
        self.question.setText(self.tr("Hello! Who are you?"))
        self.question.setMinimumWidth(320)
        self.send = button(self.tr("Say hello"), "send", kind="primary", on_click=self._say_hello)
        self.question.returnPressed.connect(self._say_hello)
        self.skipper = button(self.tr("Skip the introduction"), kind="quiet", on_click=self.skip)

    def _model(self) -> Empty:
        made = Empty(
            "base",
            self.tr("Welcome to Veneer"),
            self.tr(
                "First a model: drop a GGUF file of your own onto this window or choose it here. "
                "It is used where it lies and never changed."
            ),
        )
        if embedded_base() is not None:
            made.add(self.embedded)
        made.add(self.own)
        return made

    def _adapter(self) -> Empty:
        made = Empty("layer", self.tr("Lay an adapter over it"), "")
        for part in (self.demo, self.choose, self.without):
            made.add(part)
        return made

    def _greet(self) -> Empty:
        made = Empty("chat", self.tr("Say hello"), "")
        made.add(self.question)
        made.add(self.send)
        return made

    def _arrange(self) -> None:
        marks = row(None, *self.marks.values(), None)
        foot = row(None, self.skipper, None)
        layout = column(marks, self._stack, foot, spacing=16)
        layout.setStretch(1, 1)
        layout.setContentsMargins(24, 24, 24, 24)
        self.setLayout(layout)

    def _changed(self, changes: Changes) -> None:
        if self._begun and not self._over and (changes.bases or changes.adapters):
            self._look()

    def _look(self) -> None:
        self._latest.ask(look, self._show)

    def _show(self, beginning: Beginning) -> None:
        self._beginning = beginning
        before, self.step = self.step, beginning.step(without_adapter=self._without_adapter)
        self._say()
        self._show_marks()
        self.demo.setVisible(beginning.embedded)
        self._stack.setCurrentWidget(self.pages[self.step])
        if self.step != before and self.isVisible():
            self._focus()

    def _say(self) -> None:
        base = text.plain(self._beginning.base.name, 60) if self._beginning.base else ""
        adapter = self._beginning.adapter
        drop = self.tr(
            "“{base}” is here. Now drop a LoRA adapter onto this window: a GGUF or safetensors "
            "file, or a PEFT folder. It can be taken off again at any time."
        )
        self.pages["adapter"].sentence.setText(self._beginning.misfit or drop.format(base=base))
        both = self.tr("“{adapter}” over “{base}” will answer.")
        alone = self.tr("“{base}” will answer.")
        name = text.plain(adapter.name, 60) if adapter is not None else ""
        said = both.format(adapter=name, base=base) if adapter else alone.format(base=base)
        self.pages["hello"].sentence.setText(said)

    def _show_marks(self) -> None:
        words = (self.tr("1  Model"), self.tr("2  Adapter"), self.tr("3  Hello"))
        here = STEPS.index(self.step)
        for number, (mark, word) in enumerate(zip(self.marks.values(), words, strict=True)):
            mark.setText(word)
            set_role(
                mark, "step-done" if number < here else "step-now" if number == here else "step"
            )

    def _focus(self) -> None:
        wanted = {
            "model": (self.embedded, self.own),
            "adapter": (self.demo, self.choose),
            "hello": (self.question,),
        }
        next(part for part in wanted[self.step] if not part.isHidden()).setFocus()

    def _use_embedded(self) -> None:
        path = embedded_base()
        if path is not None:
            self._services.imports.add((path,))

    def _use_demo(self) -> None:
        self._services.imports.add((adapters()[_DEMO],))

    def _go_without(self) -> None:
        self._without_adapter = True
        self._show(self._beginning)

    def _say_hello(self) -> None:
        now, said = self._beginning, self.question.text().strip()
        if now.base is None or not said or self._services.switch.running:
            return
        self._hello = said
        title = now.stack or now.base.name
        parts = ((now.adapter.digest, now.adapter.default_scale),) if now.adapter else ()
        self._services.switch.to_parts(
            now.base.digest, parts, title, name=now.stack if parts else None
        )

    def _stated(self, state: SwitchState) -> None:
        self.send.setEnabled(state.status != "running")
        said, self._hello = self._hello, "" if state.status in ("done", "failed") else self._hello
        if said and state.status == "done":
            self._over = True
            self.greeted.emit(said)
