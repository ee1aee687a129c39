"""How a conversation is held: the panel that changes its system prompt and its sampling."""

from collections.abc import Callable

import msgspec

from veneer.chat.presets import Presets
from veneer.chat.setup import BUILT_IN, Preset, Setup
from veneer.runtime.protocol import Sampling
from veneer.workspace import Workspace
from veneer_app import text
from veneer_app.operations import Operations
from veneer_app.parts import fields
from veneer_app.parts.controls import button, column, icon_button, label, row
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal

translate = text.translate
_MOST_SEED = 2**31 - 1
_FIELD = 136


class SetupPanel(QtWidgets.QFrame):
    """A panel that opens above its button and closes by itself. `settled` has what was chosen."""

    settled = Signal(object)

    def __init__(self, operations: Operations) -> None:
        # With a parent before that has its own place, Tab would never leave the parent again.
        super().__init__(None, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName(self.tr("How this conversation is held"))
        self._operations = operations
        self._make_fields()
        self._make_presets()
        self._arrange()
        self.show_setup(Setup())
        self._list_presets(tuple(BUILT_IN))
        operations.read(lambda ws: ws.presets.all(), self._list_presets)

    @property
    def setup(self) -> Setup:
        """What is chosen now. Greedy is a temperature of 0; no seed is a new one each time."""
        seed = self.seed.value()
        return Setup(
            system=self.system.toPlainText().strip(),
            sampling=Sampling(
                temperature=0.0 if self.greedy.isChecked() else self.temperature.value(),
                top_k=self.top_k.value(),
                top_p=self.top_p.value(),
                min_p=self.min_p.value(),
                repeat_penalty=self.penalty.value(),
                seed=None if seed < 0 else seed,
            ),
            max_tokens=self.max_tokens.value(),
        )

    def show_setup(self, setup: Setup) -> None:
        """Show how a conversation is held."""
        sampling = setup.sampling
        self.system.setPlainText(setup.system)
        self.greedy.setChecked(sampling.temperature <= 0)
        self.temperature.setValue(sampling.temperature or Sampling().temperature)
        self.top_k.setValue(sampling.top_k)
        self.top_p.setValue(sampling.top_p)
        self.min_p.setValue(sampling.min_p)
        self.penalty.setValue(sampling.repeat_penalty)
        self.max_tokens.setValue(setup.max_tokens)
        self.seed.setValue(-1 if sampling.seed is None else sampling.seed)

    def use_system(self, system: str) -> None:
        """Tell this first from now on."""
        self.system.setPlainText(system)
        self.settled.emit(self.setup)

    def open_above(self, anchor: QtWidgets.QWidget) -> None:
        """Open just above a button, within the screen."""
        if self.parentWidget() is None:
            self.setParent(anchor.window(), self.windowFlags())
        self.adjustSize()
        corner = anchor.mapToGlobal(QtCore.QPoint(anchor.width() - self.width(), 0))
        screen = anchor.screen().availableGeometry()
        corner -= QtCore.QPoint(0, self.height() + 8)
        self.move(max(screen.left(), corner.x()), max(screen.top(), corner.y()))
        self.show()
        self.system.setFocus()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:  # noqa: N802
        """Closing it is what keeps the choice."""
        super().hideEvent(event)
        self.settled.emit(self.setup)

    def _make_fields(self) -> None:
        asks = self.tr("What the model is told before everything else")
        self.system = fields.several_lines(self.tr("System prompt"), asks, 88)
        self.greedy = QtWidgets.QCheckBox(self.tr("Greedy: always the likeliest token"))
        self.greedy.setAccessibleName(self.greedy.text())
        self.temperature = fields.decimal(self.tr("Temperature"), 0.05, 5)
        self.top_k = fields.whole(self.tr("Top k"), 0, 1000)
        self.top_p = fields.decimal(self.tr("Top p"), 0, 1)
        self.min_p = fields.decimal(self.tr("Min p"), 0, 1, 0.01)
        self.penalty = fields.decimal(self.tr("Repeat penalty"), 0.5, 2)
        self.max_tokens = fields.whole(self.tr("Most tokens"), 1, 32768, 64)
        self.seed = fields.whole(self.tr("Seed"), -1, _MOST_SEED)
        self.seed.setSpecialValueText(self.tr("random"))
        self.greedy.toggled.connect(self._allow)

    def _make_presets(self) -> None:
        self._presets: dict[str, Preset] = {}
        self.presets = QtWidgets.QComboBox()
        self.presets.setAccessibleName(self.tr("Preset"))
        self.presets.setPlaceholderText(self.tr("Choose a preset"))
        self.presets.activated.connect(self._use_preset)
        self.name = fields.line(self.tr("Name of a new preset"), self.tr("Keep this as…"))
        self.name.setMaxLength(40)
        self.name.returnPressed.connect(self._save_preset)
        self.save = button(self.tr("Keep"), on_click=self._save_preset)
        self.save.setEnabled(False)
        self.name.textChanged.connect(lambda written: self.save.setEnabled(bool(written.strip())))
        self.forget = icon_button("trash", self.tr("Delete this preset"), self._forget_preset)
        self.forget.setEnabled(False)
        self.presets.currentTextChanged.connect(self._allow_forget)

    def _arrange(self) -> None:
        layout = column(label(self.tr("System prompt"), "heading"), self.system, 4, spacing=8)
        layout.addLayout(row(label(self.tr("Sampling"), "heading"), None))
        layout.addWidget(self.greedy)
        columns = ((self.temperature, self.top_k, self.top_p, self.min_p),
                   (self.penalty, self.max_tokens, self.seed))  # fmt: skip
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(16)
        for n, group in enumerate(columns):
            for m, made in enumerate(group):
                made.setFixedWidth(_FIELD)
                grid.addWidget(label(made.accessibleName(), "muted"), m, n * 2)
                grid.addWidget(made, m, n * 2 + 1)
        layout.addLayout(grid)
        layout.addSpacing(4)
        layout.addWidget(label(self.tr("Presets"), "heading"))
        self.presets.setMinimumWidth(176)
        layout.addLayout(row(self.presets, self.forget, self.name, self.save))
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)

    def _allow(self, greedy: bool) -> None:
        for part in (self.temperature, self.top_k, self.top_p, self.min_p, self.seed):
            part.setEnabled(not greedy)

    def _list_presets(self, presets: tuple[Preset, ...]) -> None:
        self._presets = {preset.name: preset for preset in presets}
        shown = self.presets.currentText()
        self.presets.clear()
        for preset in presets:
            self.presets.addItem(text.plain(_shown(preset), 40), preset.name)
        self.presets.setCurrentIndex(self.presets.findText(shown) if shown else -1)
        self._allow_forget()

    def _use_preset(self) -> None:
        preset = self._presets[self.presets.currentData()]
        system = self.setup.system if preset in BUILT_IN else preset.setup.system
        self.show_setup(msgspec.structs.replace(preset.setup, system=system))

    def _save_preset(self) -> None:
        name, setup = self.name.text().strip(), self.setup
        if name:
            self._change(lambda presets: presets.save(name, setup))
            self.name.clear()

    def _forget_preset(self) -> None:
        name = self.presets.currentData()
        self.presets.setCurrentIndex(-1)
        self._change(lambda presets: presets.delete(name))

    def _change(self, act: Callable[[Presets], None]) -> None:
        def work(workspace: Workspace) -> tuple[Preset, ...]:
            act(workspace.presets)
            return workspace.presets.all()

        self._operations.do(work, self._list_presets)

    def _allow_forget(self) -> None:
        chosen = self._presets.get(self.presets.currentData() or "")
        self.forget.setEnabled(chosen is not None and chosen not in BUILT_IN)


def _shown(preset: Preset) -> str:
    """The built-in ones have names in the person's language."""
    if preset not in BUILT_IN:
        return preset.name
    return {
        "Balanced": translate("Presets", "Balanced"),
        "Precise": translate("Presets", "Precise"),
        "Inventive": translate("Presets", "Inventive"),
        "Greedy": translate("Presets", "Greedy"),
    }[preset.name]
