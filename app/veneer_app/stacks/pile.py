"""The cards one above the other, the base at the bottom. Adapters can be dropped between them."""

from collections.abc import Mapping

from veneer.adapters.compat import CompatReport
from veneer.identity import Digest
from veneer_app.parts.carry import carried
from veneer_app.parts.controls import column, label
from veneer_app.qt import QtCore, QtGui, QtWidgets
from veneer_app.reads import StacksNow
from veneer_app.stacks.cards import BaseCard, LayerCard, Shown
from veneer_app.stacks.draft import Draft
from veneer_app.stacks.editor import Editor
from veneer_app.theme.tokens import current


class Pile(QtWidgets.QWidget):
    """Shows a draft. Cards live as long as their adapter is in it, so that focus stays put."""

    def __init__(self, editor: Editor) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._editor = editor
        self._now = StacksNow()
        self._reports: Mapping[Digest, CompatReport] = {}
        self._problems: Mapping[Digest, str] = {}
        self._drop_at: int | None = None
        self.cards: dict[Digest, LayerCard] = {}
        self.base = BaseCard(editor)
        self.hint = label(
            self.tr("Only the base so far. Add an adapter, or drag one here from the list."),
            "muted",
            wrap=True,
        )
        self._layers = column(spacing=8)
        layout = column(self.hint, self._layers, self.base, None, spacing=8)
        layout.setContentsMargins(24, 8, 24, 24)
        self.setLayout(layout)
        editor.edited.connect(self._show)

    def show_now(self, now: StacksNow) -> None:
        """The library or what is active has changed."""
        self._now = now
        self._show(self._editor.draft)

    def show_reports(self, reports: Mapping[Digest, CompatReport]) -> None:
        """How the adapters fit the draft's base."""
        if reports != self._reports:
            self._reports = reports
            self._show(self._editor.draft)

    def show_problems(self, problems: Mapping[Digest, str]) -> None:
        """What went wrong with which adapter at the last activation."""
        self._problems = problems
        self._show(self._editor.draft)

    def _show(self, draft: Draft) -> None:
        self.base.show_bases(self._now.bases, draft.base)
        stored = {a.digest: a for a in self._now.adapters}
        layers = [layer for layer in draft.layers if layer.adapter in stored]
        wanted = [layer.adapter for layer in reversed(layers)]
        for gone in set(self.cards) - set(wanted):
            self._drop(gone)
        for adapter in wanted:
            if adapter not in self.cards:
                self.cards[adapter] = LayerCard(stored[adapter], self._editor)
            self.cards[adapter].show_stored(stored[adapter])
        self._order(wanted)
        used = dict(draft.parts) if draft.blend is not None else {}
        for place, layer in enumerate(layers):
            self.cards[layer.adapter].show_layer(
                Shown(
                    layer,
                    place,
                    len(layers),
                    draft.counts(layer),
                    draft.solo == layer.adapter,
                    used.get(layer.adapter),
                    self._reports.get(layer.adapter),
                    self._problems.get(layer.adapter, ""),
                )
            )
        self.hint.setVisible(not layers)

    def _drop(self, adapter: Digest) -> None:
        card = self.cards.pop(adapter)
        self._layers.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _order(self, wanted: list[Digest]) -> None:
        found = (self._layers.itemAt(n) for n in range(self._layers.count()))
        items = [item.widget() for item in found if item is not None]
        if items != [self.cards[a] for a in wanted]:
            for adapter in wanted:
                self._layers.removeWidget(self.cards[adapter])
                self._layers.addWidget(self.cards[adapter])
            self._order_tabs(wanted)

    def _order_tabs(self, wanted: list[Digest]) -> None:
        """The Tab key follows the cards from top to bottom."""
        before: QtWidgets.QWidget | None = None
        for adapter in wanted:
            for part in self.cards[adapter].controls:
                if before is not None:
                    self.setTabOrder(before, part)
                before = part
        if before is not None:
            self.setTabOrder(before, self.base.choice)

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:  # noqa: N802
        """Adapters are welcome; files are the window's."""
        if carried(event.mimeData()) is not None:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QtGui.QDragMoveEvent) -> None:  # noqa: N802
        """Show where it would go."""
        if carried(event.mimeData()) is None:
            event.ignore()
            return
        event.acceptProposedAction()
        self._drop_at = self._place_at(event.position().y())
        self.update()

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:  # noqa: N802
        """It went elsewhere."""
        self._drop_at = None
        self.update()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:  # noqa: N802
        """Add the adapter there, or move it there."""
        adapter = carried(event.mimeData())
        place = self._place_at(event.position().y())
        self._drop_at = None
        self.update()
        scales = {a.digest: a.default_scale for a in self._now.adapters}
        if adapter is not None and adapter in scales:
            self._editor.add(adapter, scales[adapter], place)
            event.acceptProposedAction()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:  # noqa: N802
        """The line where a dragged adapter would go."""
        if self._drop_at is None:
            return
        painter = QtGui.QPainter(self)
        y = self._edge(self._drop_at)
        painter.fillRect(QtCore.QRect(24, y - 2, self.width() - 48, 3), current().accent)

    def _shown(self) -> list[LayerCard]:
        draft = self._editor.draft
        return [self.cards[la.adapter] for la in draft.layers if la.adapter in self.cards]

    def _place_at(self, y: float) -> int:
        """The place, bottom first, that a height stands for."""
        return sum(card.geometry().center().y() > y for card in self._shown())

    def _edge(self, place: int) -> int:
        cards = self._shown()
        if place < len(cards):
            return cards[place].geometry().bottom() + 5
        return cards[-1].geometry().top() - 4 if cards else self.base.geometry().top() - 4
