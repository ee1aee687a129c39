"""Answers side by side, of different lengths."""

from pytestqt.qtbot import QtBot

from veneer_app.chat.sides import Sides


def test_they_scroll_together_each_to_the_same_part_of_its_length(qtbot: QtBot) -> None:
    sides = Sides(lambda number: None)
    qtbot.addWidget(sides)
    sides.resize(900, 300)
    sides.show()
    for view, lines in zip(sides.views, (100, 400, 2), strict=True):
        view.begin("one")
        view.grow("line\n" * lines)
    bars = [view.text.verticalScrollBar() for view in sides.views]
    qtbot.waitUntil(lambda: bars[1].maximum() > 3 * bars[0].maximum() > 0 == bars[2].maximum())
    bars[0].setValue(bars[0].maximum() // 2)
    assert abs(bars[1].value() / bars[1].maximum() - 0.5) < 0.01
    bars[1].setValue(bars[1].maximum())
    assert bars[0].value() == bars[0].maximum()
    assert bars[2].value() == 0
