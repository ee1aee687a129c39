"""What a single bubble shows."""

from pytestqt.qtbot import QtBot

from veneer_app.chat.bubbles import Question
from veneer_app.chat.turns import Turn
from veneer_app.qt import QtWidgets


def test_an_endless_word_is_broken_where_it_is_shown_and_copied_whole(qtbot: QtBot) -> None:
    word = "x" * 400
    question = Question(Turn("user", word, node=1, beside=(1,)))
    qtbot.addWidget(question)
    question.resize(500, 200)
    question.show()
    lines = question.text.height() // question.text.fontMetrics().lineSpacing()
    assert lines >= 400 * question.text.fontMetrics().averageCharWidth() // 440
    question.copy()
    assert QtWidgets.QApplication.clipboard().text() == word
