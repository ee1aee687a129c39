"""An answer's text on the screen: hostile Markdown, code with its button, growing in place."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from veneer_app.chat.prose import AnswerText, ProseText
from veneer_app.qt import QtGui, QtWidgets


def test_an_answer_loads_nothing_and_shows_html_as_text(qtbot: QtBot, tmp_path: Path) -> None:
    picture = tmp_path / "red.png"
    red = QtGui.QImage(60, 60, QtGui.QImage.Format.Format_RGB32)
    red.fill(QtGui.QColor("#ff0000"))
    assert red.save(str(picture))
    shown = ProseText("Answer")
    qtbot.addWidget(shown)
    shown.resize(400, 200)
    shown.say(f"<b>bold</b> ![x]({picture.as_uri()}) ![y](https://example.org/y.png)")
    assert "<b>bold</b>" in shown.toPlainText()
    drawn = shown.grab().toImage()
    points = [(x, y) for x in range(drawn.width()) for y in range(drawn.height())]
    assert all(drawn.pixelColor(x, y) != QtGui.QColor("#ff0000") for x, y in points)


def test_code_is_coloured_and_copied_as_it_is(qtbot: QtBot) -> None:
    shown = AnswerText("Answer")
    qtbot.addWidget(shown)
    shown.say("Look:\n\n```python\ndef f():\n    <b>1</b>\n```\nDone.")
    (block,) = shown.blocks
    assert shown.toPlainText() == "Look:\ndef f():\n    <b>1</b>\nDone."
    block.copy.click()
    assert QtWidgets.QApplication.clipboard().text() == "def f():\n    <b>1</b>"
    first = block.text.document().firstBlock().layout().formats()
    assert [(part.start, part.length) for part in first] == [(0, 3)]
    assert block.text.accessibleName() == "Code, python"


def test_what_is_shown_already_is_not_drawn_again(qtbot: QtBot) -> None:
    shown = AnswerText("Answer")
    qtbot.addWidget(shown)
    text = "Look:\n\n```python\nx = 1\ny = 2\n```\nDone.\n\n```js\nlet z\n```"
    blocks, drawn = set(), []
    for end in range(1, len(text) + 1):
        shown.say(text[:end])
        blocks |= {id(block) for block in shown.blocks}
        for part in shown.findChildren(ProseText):
            if part.toPlainText() == "Look:" and part not in drawn:
                drawn.append(part)
    assert len(drawn) == 1
    assert [b.code.text for b in shown.blocks] == ["x = 1\ny = 2", "let z"]
    # A language that is still being written makes a block anew at each of its letters.
    assert len(blocks) <= 12
    shown.say("Another.")
    assert shown.toPlainText() == "Another."
