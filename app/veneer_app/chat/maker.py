"""What made an answer: its composition, looked at from the answer, and made active again."""

from dataclasses import dataclass

from veneer.errors import VeneerError
from veneer.identity import Digest
from veneer.workspace import Workspace
from veneer_app import reads, text
from veneer_app.chat.turns import Made
from veneer_app.parts.controls import Elided, button, column, label, row
from veneer_app.qt import Qt, QtCore, QtWidgets
from veneer_app.services import Services

_WIDTH = 360


@dataclass(frozen=True)
class Recipe:
    """A composition in words: its base, and each adapter with its strength, top layer first."""

    base: str
    layers: tuple[tuple[str, str], ...]
    active: bool


def recipe(workspace: Workspace, composition: Digest) -> Recipe | None:
    """What a composition is made of; None if that is not known any more."""
    try:
        found = workspace.stacks.get(composition)
    except VeneerError:
        return None
    known, semantic = reads.names(workspace), found.manifest.composition
    current = workspace.active()
    return Recipe(
        base=", ".join(known.get(d, text.plain(d, 20)) for d in semantic.base.digests),
        layers=tuple(
            (known.get(a.digest, text.plain(a.digest, 20)), text.scale(a.scale))
            for a in reversed(semantic.adapters)
        ),
        active=current is not None and current[1].id == composition,
    )


class Maker(QtWidgets.QFrame):
    """A panel that opens beside the answer's badge and closes by itself."""

    def __init__(self, parent: QtWidgets.QWidget, services: Services, made: Made) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")
        self.setAccessibleName(self.tr("What made this answer"))
        self._services, self._made = services, made
        self.setFixedWidth(_WIDTH)
        self._lines = column(spacing=4)
        self.activate = button(self.tr("Activate again"), "play", kind="primary")
        self.activate.clicked.connect(self._activate)
        self.copy = button(self.tr("Copy id"), "copy", on_click=self._to_clipboard)
        said = self.tr("Generation {n}").format(n=made.generation)
        layout = column(
            Elided(made.title, "heading"),
            label(said, "muted"),
            self._lines,
            Elided(made.composition, "muted"),
            row(None, self.copy, self.activate),
        )
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)
        self.activate.setEnabled(False)

    def open_at(self, anchor: QtWidgets.QWidget) -> None:
        """Look the composition up, and open above a widget or, where there is no room, below."""
        composition = self._made.composition
        self._services.operations.read(
            lambda ws: recipe(ws, composition), lambda found: self._show(found, anchor)
        )

    def _show(self, found: Recipe | None, anchor: QtWidgets.QWidget) -> None:
        for words, role in _lines(found):
            self._lines.addWidget(Elided(words, role))
        self.activate.setEnabled(found is not None and not found.active)
        self.adjustSize()
        above = anchor.mapToGlobal(QtCore.QPoint(0, -self.height() - 4))
        below = anchor.mapToGlobal(QtCore.QPoint(0, anchor.height() + 4))
        room = above.y() >= anchor.window().mapToGlobal(QtCore.QPoint(0, 0)).y()
        self.move(above if room else below)
        self.show()
        (self.activate if self.activate.isEnabled() else self.copy).setFocus()

    def _activate(self) -> None:
        self._services.switch.to_stack(self._made.composition, self._made.title)
        self.close()

    def _to_clipboard(self) -> None:
        QtWidgets.QApplication.clipboard().setText(self._made.composition)


def _lines(found: Recipe | None) -> list[tuple[str, str]]:
    translate = text.translate
    if found is None:
        return [(translate("Maker", "What it was made of is not known any more."), "bad")]
    layers = [(f"{name}  ×  {strength}", "") for name, strength in found.layers]
    active = [(translate("Maker", "It is active."), "good")] if found.active else []
    return [*layers, (translate("Maker", "over {base}").format(base=found.base), ""), *active]
