"""Every place that an adapter changes, in a window of its own."""

from dataclasses import dataclass

from veneer.adapters.model import Target
from veneer.store.records import StoredAdapter
from veneer_app import text
from veneer_app.library.facts import operation_words
from veneer_app.parts.controls import button, column, label, row
from veneer_app.parts.table import Column, Found, Table, table_view
from veneer_app.qt import Qt, QtWidgets

translate = text.translate


@dataclass(frozen=True)
class _Row:
    target: Target
    strength: float

    @property
    def effective(self) -> float:
        """What its product is multiplied by, at the adapter's default strength."""
        return self.target.scaling * self.strength


class TargetsDialog(QtWidgets.QDialog):
    """The targets, with shape, rank and the scale that each is applied with."""

    def __init__(self, stored: StoredAdapter, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        name = text.plain(stored.name, 60)
        self.setWindowTitle(self.tr("What “{name}” changes").format(name=name))
        self.resize(760, 480)
        self.table = Table(_columns(), self)
        self.table.set_rows([_Row(t, stored.default_scale) for t in stored.adapter.targets])
        view = table_view(self.tr("Targets"), Found(self.table))
        # In the adapter's own order; Qt would begin with the last.
        view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        header, fit = view.horizontalHeader(), QtWidgets.QHeaderView.ResizeMode
        header.setSectionResizeMode(fit.ResizeToContents)
        header.setSectionResizeMode(0, fit.Stretch)
        said = self.tr(
            "At the default strength of {scale}; a stack's own strength scales the same."
        )
        close = button(self.tr("Close"), kind="primary", on_click=self.accept)
        scale = text.scale(stored.default_scale)
        layout = column(label(said.format(scale=scale), "muted", wrap=True), view, row(None, close))
        layout.setContentsMargins(16, 16, 16, 16)
        self.setLayout(layout)


def _columns() -> tuple[Column, ...]:
    words = operation_words()
    return (
        Column(translate("Targets", "Target"), lambda r: text.plain(r.target.module, 120)),
        Column(translate("Targets", "Change"), lambda r: words[r.target.operation]),
        Column(
            translate("Targets", "Rank"),
            lambda r: str(r.target.rank or ""),
            lambda r: r.target.rank,
            right=True,
        ),
        Column(
            translate("Targets", "Shape"),
            lambda r: f"{r.target.out_features} × {r.target.in_features}",
            lambda r: r.target.out_features * r.target.in_features,
            right=True,
        ),
        Column(
            translate("Targets", "Scale"),
            lambda r: f"{r.effective:g}",
            lambda r: r.effective,
            right=True,
        ),
    )
