"""The cards of a stack: one for each adapter, and the base they lie on."""

from collections.abc import Sequence

from veneer.adapters.compat import CompatReport
from veneer.identity import Digest
from veneer.store.records import StoredAdapter, StoredBase
from veneer_app import text
from veneer_app.library.rows import tone_of, verdict
from veneer_app.parts import fields
from veneer_app.parts.controls import (
    Elided,
    column,
    escaped,
    icon_button,
    label,
    row,
    set_role,
)
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets, Signal
from veneer_app.stacks.draft import Layer
from veneer_app.stacks.editor import Editor
from veneer_app.stacks.strength import Strength
from veneer_app.theme import icons

ADAPTER_MIME = "application/x-veneer-adapter"


def adapter_mime(adapter: Digest) -> QtCore.QMimeData:
    """What is dragged when an adapter is dragged."""
    data = QtCore.QMimeData()
    data.setData(ADAPTER_MIME, adapter.encode())
    return data


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
            drag.setMimeData(adapter_mime(self._adapter))
            drag.exec(Qt.DropAction.MoveAction)


class LayerCard(QtWidgets.QFrame):
    """One adapter: on or off, its strength, its place, and whether it fits. Alt+arrows move it."""

    hovered = Signal()

    def __init__(self, stored: StoredAdapter, editor: Editor) -> None:
        super().__init__()
        self.adapter = stored.digest
        self._editor = editor
        name = text.plain(stored.name, 60)
        self.setAccessibleName(self.tr("Adapter {name}").format(name=name))
        self.on = QtWidgets.QCheckBox()
        self.on.setAccessibleName(self.tr("{name} is on").format(name=name))
        self.on.setToolTip(self.tr("On or off"))
        self.name = Elided(name, "heading")
        self.badge = label(role="badge")
        self.problem = label(role="bad", wrap=True, selectable=True)
        self.strength = Strength(name)
        self.up = icon_button("up", self.tr("Move {name} up").format(name=name))
        self.down = icon_button("down", self.tr("Move {name} down").format(name=name))
        self.gone = icon_button("close", self.tr("Take {name} out").format(name=name))
        self._arrange()
        self._connect()

    def show_layer(
        self, layer: Layer, report: CompatReport | None, place: int, of: int, problem: str
    ) -> None:
        """Show a layer, its verdict, and what else went wrong with it."""
        self.on.blockSignals(True)
        self.on.setChecked(layer.on)
        self.on.blockSignals(False)
        self.strength.set_value(layer.scale)
        self.strength.setEnabled(layer.on)
        self.up.setEnabled(place < of - 1)
        self.down.setEnabled(place > 0)
        refused = report is not None and not report.ok
        said = verdict(report) if report is not None and refused else problem
        self.problem.setText(said)
        self.problem.setVisible(bool(said))
        self._show_badge(report)
        set_role(self, "card-bad" if said and layer.on else "card" if layer.on else "card-off")

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
        head = row(self.on, self.name, self.badge, None, self.up, self.down, self.gone, spacing=6)
        inside = column(head, self.strength, self.problem, spacing=4)
        layout = row(Grip(self.adapter), inside, spacing=8)
        layout.setContentsMargins(8, 8, 12, 8)
        self.setLayout(layout)

    def _connect(self) -> None:
        editor, adapter = self._editor, self.adapter
        self.on.toggled.connect(lambda on: editor.set_on(adapter, on))
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
