"""The cards of a stack: one for each adapter, and the base they lie on."""

from collections.abc import Sequence
from dataclasses import dataclass

from veneer.adapters.compat import CompatReport
from veneer.identity import Digest
from veneer.store.records import StoredAdapter, StoredBase
from veneer_app import text
from veneer_app.library.rows import kind_word, tone_of, verdict
from veneer_app.parts import fields
from veneer_app.parts.carry import carrying
from veneer_app.parts.controls import (
    Elided,
    column,
    escaped,
    icon_button,
    label,
    row,
    set_role,
)
from veneer_app.qt import Qt, QtGui, QtWidgets
from veneer_app.stacks.draft import Layer
from veneer_app.stacks.editor import Editor
from veneer_app.stacks.strength import Strength
from veneer_app.theme import icons

_ROOMY = 560


class Grip(QtWidgets.QLabel):
    """The part of a card that a mouse drags it by; the keyboard has the arrow buttons."""

    def __init__(self, adapter: Digest) -> None:
        super().__init__()
        self._adapter = adapter
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setToolTip(self.tr("Drag to change the order"))
        self.setFixedWidth(20)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """Two columns of dots, in the theme's tone."""
        shown = icons.pixmap("grip", icons.current().border_strong, 20, self.devicePixelRatioF())
        QtGui.QPainter(self).drawPixmap(0, (self.height() - 20) // 2, shown)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:  # noqa: N802
        """Begin to drag."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            drag = QtGui.QDrag(self)
            drag.setMimeData(carrying(self._adapter))
            drag.exec(Qt.DropAction.MoveAction)


@dataclass(frozen=True)
class Shown:
    """A layer as a card shows it.

    `counts` is whether it is part of the composition, `used` the strength that a blend makes of
    its own (None for the plain sum), `place` where it lies among `of`, bottom first.
    """

    layer: Layer
    place: int = 0
    of: int = 1
    counts: bool = True
    solo: bool = False
    used: float | None = None
    report: CompatReport | None = None
    problem: str = ""


class LayerCard(QtWidgets.QFrame):
    """One adapter: on or off, its strength, its place, and whether it fits. Alt+arrows move it."""

    def __init__(self, stored: StoredAdapter, editor: Editor) -> None:
        super().__init__()
        self.adapter = stored.digest
        self._editor = editor
        name = text.plain(stored.name, 60)
        self.setAccessibleName(self.tr("Adapter {name}").format(name=name))
        self._default = stored.default_scale
        self.on = QtWidgets.QCheckBox()
        self.on.setAccessibleName(self.tr("{name} is on").format(name=name))
        self.on.setToolTip(self.tr("On or off"))
        self.name = Elided(name, "heading")
        self.kind = label(kind_word(stored.adapter.kind), "badge")
        self.badge = label(role="badge")
        self.bytes = label(text.size(stored.size), "muted")
        self.problem = label(role="bad", wrap=True, selectable=True)
        self.strength = Strength(name)
        self.used = label(role="muted")
        self.solo = icon_button("solo", self.tr("Only {name} (solo)").format(name=name))
        self.solo.setCheckable(True)
        self.reset = icon_button("again", "")
        self.up = icon_button("up", self.tr("Move {name} up").format(name=name))
        self.down = icon_button("down", self.tr("Move {name} down").format(name=name))
        self.gone = icon_button("close", self.tr("Take {name} out").format(name=name))
        self._arrange()
        self._connect()
        self.show_stored(stored)

    @property
    def controls(self) -> tuple[QtWidgets.QWidget, ...]:
        """What the Tab key goes through, in its order."""
        head = (self.on, self.solo, self.reset, self.up, self.down, self.gone)
        return (*head, self.strength.slider, self.strength.field)

    def show_stored(self, stored: StoredAdapter) -> None:
        """What its owner calls it and how strong it usually is, which may have changed."""
        name = text.plain(stored.name, 60)
        self._default = stored.default_scale
        self.name.setText(name)
        words = self.tr("Back to the default strength of {name}, {scale}")
        said = words.format(name=name, scale=text.scale(stored.default_scale))
        self.reset.setAccessibleName(said)
        self.reset.setToolTip(escaped(said))

    def show_layer(self, shown: Shown) -> None:
        """Show the layer as it is now."""
        layer, report = shown.layer, shown.report
        for box, checked in ((self.on, layer.on), (self.solo, shown.solo)):
            box.blockSignals(True)
            box.setChecked(checked)
            box.blockSignals(False)
        self.strength.set_value(layer.scale)
        self.strength.setEnabled(layer.on)
        self.reset.setEnabled(layer.scale != self._default)
        self.up.setEnabled(shown.place < shown.of - 1)
        self.down.setEnabled(shown.place > 0)
        self.used.setVisible(shown.used is not None)
        self.used.setText("" if shown.used is None else f"→ {shown.used:.2f}")
        refused = report is not None and not report.ok
        said = verdict(report) if report is not None and refused else shown.problem
        self.problem.setText(said)
        self.problem.setVisible(bool(said))
        self._show_badge(report)
        counts = "card" if shown.counts else "card-off"
        set_role(self, "card-bad" if said and shown.counts else counts)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """In a narrow window its name matters more than its size and kind."""
        super().resizeEvent(event)
        for part in (self.kind, self.bytes):
            part.setVisible(event.size().width() >= _ROOMY)

    def _show_badge(self, report: CompatReport | None) -> None:
        self.badge.setVisible(report is not None)
        if report is not None:
            self.badge.setText(
                self.tr("{n} of {of} tensors").format(n=report.applies, of=report.of)
            )
            self.badge.setToolTip(escaped(verdict(report)))
            tone = tone_of(report)
            set_role(self.badge, "badge" if tone == "text" else f"badge-{tone}")

    def _arrange(self) -> None:
        self.used.setMinimumWidth(48)
        self.used.setToolTip(self.tr("The strength that the blend gives it"))
        tools = row(self.solo, self.reset, self.up, self.down, self.gone, spacing=4)
        about = row(self.on, self.name, self.kind, self.badge, self.bytes, None, spacing=8)
        head = row(about, tools)
        head.setStretch(0, 1)
        strength = row(self.strength, self.used)
        strength.setStretch(0, 1)
        inside = column(head, strength, self.problem, spacing=4)
        layout = row(Grip(self.adapter), inside, spacing=8)
        layout.setContentsMargins(8, 8, 12, 8)
        self.setLayout(layout)

    def _connect(self) -> None:
        editor, adapter = self._editor, self.adapter
        self.on.toggled.connect(lambda on: editor.set_on(adapter, on))
        self.solo.toggled.connect(lambda: editor.set_solo(adapter))
        self.reset.clicked.connect(lambda: editor.set_scale(adapter, self._default))
        self.strength.chosen.connect(lambda value: editor.set_scale(adapter, value))
        self.up.clicked.connect(lambda: editor.nudge(adapter, up=True))
        self.down.clicked.connect(lambda: editor.nudge(adapter, up=False))
        self.gone.clicked.connect(lambda: editor.remove(adapter))
        for key, up in (("Alt+Up", True), ("Alt+Down", False)):
            short = QtGui.QShortcut(QtGui.QKeySequence(key), self)
            short.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            short.activated.connect(lambda up=up: editor.nudge(adapter, up=up))


class BaseCard(QtWidgets.QFrame):
    """The base under the stack, which can be chosen and is never changed."""

    def __init__(self, editor: Editor) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._editor = editor
        self._picture = label()
        self.choice = fields.choice(self.tr("Base"), ())
        self.choice.setMinimumWidth(200)
        self.choice.setMaximumWidth(360)
        self.about = Elided(role="muted")
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout = row(self._picture, label(self.tr("Base"), "heading"), self.choice, self.about)
        layout.setStretch(3, 1)
        layout.setContentsMargins(8, 12, 12, 12)
        self.setLayout(layout)
        self.choice.currentIndexChanged.connect(self._choose)

    def show_bases(self, bases: Sequence[StoredBase], chosen: Digest | None) -> None:
        """Offer the bases."""
        self.choice.blockSignals(True)
        self.choice.clear()
        for base in bases:
            self.choice.addItem(text.plain(base.name, 48), base.digest)
        self.choice.blockSignals(False)
        fields.choose(self.choice, chosen)
        found = next((b for b in bases if b.digest == chosen), None)
        words = self.tr("{parameters} parameters, {size}, never changed")
        self.about.setText(
            words.format(
                parameters=text.count(found.base.parameters), size=text.size(found.base.bytes)
            )
            if found is not None
            else self.tr("This base is not in the library any more.")
        )

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """Draw the picture in the theme's tone, which may have changed."""
        shown = icons.pixmap("base", icons.current().muted, 20, self.devicePixelRatioF())
        if self._picture.pixmap().cacheKey() != shown.cacheKey():
            self._picture.setPixmap(shown)
        super().paintEvent(event)

    def _choose(self) -> None:
        chosen = self.choice.currentData()
        if chosen is not None:
            self._editor.set_base(chosen)
