"""Labels at the edges of what fits."""

from pytestqt.qtbot import QtBot

from veneer_app.parts import fields
from veneer_app.parts.controls import Wrapped, label
from veneer_app.qt import Qt, QtGui, QtWidgets


def test_a_wrapped_label_is_no_wider_for_a_word_without_an_end(qtbot: QtBot) -> None:
    said = f"Refused: {'x' * 400}"
    shown = label(said, wrap=True, selectable=True)
    qtbot.addWidget(shown)
    assert isinstance(shown, Wrapped)
    assert shown.minimumSizeHint().width() < 200
    assert shown.text() == said


def test_what_is_copied_from_a_wrapped_label_is_what_was_said(qtbot: QtBot) -> None:
    said = f"Refused: {'x' * 400}"
    shown = label(said, wrap=True, selectable=True)
    qtbot.addWidget(shown)
    shown.setSelection(0, len(QtWidgets.QLabel.text(shown)))
    qtbot.keyClick(shown, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QtWidgets.QApplication.clipboard().text() == said


def test_what_is_chosen_ends_in_dots_where_it_does_not_fit(qtbot: QtBot) -> None:
    narrow, short = (fields.choice("Base", [(name, 0)]) for name in ("W" * 60, "W" * 9))
    pictures: list[QtGui.QImage] = []
    for made in (narrow, short):
        qtbot.addWidget(made)
        made.resize(120, 32)
        pictures.append(made.grab().toImage())
    # Of the long one, the end is in the field: nothing is cut at its edge.
    edge = QtGui.QImage(pictures[0]).copy(92, 4, 4, 24)
    assert edge == pictures[1].copy(92, 4, 4, 24)
