"""Compare: asked by keyboard, side by side, differences, vote and note, and found again."""

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.app.chat.support import NOW, stamp
from tests.app.support import settled, wait
from veneer.chat.comparisons import Comparison, Kept, Side
from veneer.chat.setup import Setup
from veneer.errors import Cancelled
from veneer.store.changes import Changes, Outcome
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow

LONG = "line\n" * 200


class Sides:
    """In place of the engine's compare: an answer of so many lines for each stack."""

    def __init__(self, window: MainWindow) -> None:
        self.workspace = window.operations._workspace
        self.refs: list[str] = []
        self.wait = False

    def __call__(
        self, number: int, question: str, refs: list[str], *, on_side: Any, cancel: Any
    ) -> Outcome[Kept]:
        self.refs = refs
        sides = []
        for n, ref in enumerate(refs):
            while self.wait:
                if cancel.cancelled:
                    raise Cancelled("Stopped.")
            on_side(n, f"{LONG}side {n}")
            made = self.workspace._composition(ref).id
            sides.append(Side(composition_id=made, text=f"{LONG}side {n}", stamp=stamp("x")))
        sides[-1] = Side(composition_id=made, error="Refused. [INCOMPATIBLE]")
        comparison = Comparison(
            question=question, setup=Setup(), after=None, created_at=NOW, sides=tuple(sides)
        )
        kept = self.workspace.comparisons.keep(number, comparison)
        return Outcome(kept, Changes(conversations=frozenset({number})))


@pytest.fixture
def sides(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Sides:
    made = Sides(window)
    monkeypatch.setattr(made.workspace, "compare", made)
    return made


def _marked(view: Any) -> list[str]:
    found, block = [], view.text.document().begin()
    while block.isValid():
        parts = block.begin()
        while not parts.atEnd():
            if parts.fragment().charFormat().fontUnderline():
                found.append(parts.fragment().text())
            parts += 1
        block = block.next()
    return found


def test_a_question_is_compared_judged_and_found_again(
    window: MainWindow, qtbot: QtBot, sides: Sides
) -> None:
    chat, page = window.chat, window.chat.compare
    chat.composer.input.setPlainText("Describe the sun.")
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert page.isVisible()
    assert page.question.toPlainText() == "Describe the sun."
    page.choices[1].setCurrentIndex(page.choices[1].findText("pirates"))
    page.choices[2].setCurrentIndex(page.choices[2].findText("objects"))
    qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, page.judgement.isVisible)
    settled(qtbot, window)
    views = page.sides.views
    stacks = {s.name: s.id for s in sides.workspace.stacks.saved()}
    assert sides.refs[1:] == [stacks["pirates"], stacks["objects"]]
    assert [v.title.text() for v in views] == ["plain", "pirates", "objects"]
    assert views[0].footer.text().endswith(" · complete")
    assert views[2].reason.text() == "Refused. [INCOMPATIBLE]"
    assert not views[2].vote.isEnabled()
    wait(qtbot, lambda: _marked(views[0]) == ["0"])
    assert _marked(views[1]) == ["1"]

    first, second = (v.text.verticalScrollBar() for v in views[:2])
    assert first.maximum() > 100
    first.setValue(first.maximum() // 2)
    assert abs(second.value() - second.maximum() // 2) <= 2

    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(window, Qt.Key.Key_2, both)
    wait(qtbot, views[1].vote.isChecked)
    page.note.setText("warmer")
    page.note.editingFinished.emit()
    settled(qtbot, window)
    (kept,) = sides.workspace.comparisons.of(1)
    assert (kept.comparison.vote, kept.comparison.note) == (1, "warmer")

    qtbot.keyClick(window, Qt.Key.Key_Escape)
    wait(qtbot, lambda: not page.isVisible())
    assert [line.title for line in chat.list.lines.lines] == ["Describe the sun."]
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, lambda: page.earlier.count() == 1)
    page.note.clear()
    page.earlier.setCurrentIndex(0)
    page.earlier.activated.emit(0)
    assert page.note.text() == "warmer"
    settled(qtbot, window)


def test_a_comparison_is_stopped(window: MainWindow, qtbot: QtBot, sides: Sides) -> None:
    page = window.chat.compare
    sides.wait = True
    window.chat.composer.compare.click()
    page.question.setPlainText("Hello?")
    page.go.click()
    wait(qtbot, lambda: sides.refs)
    assert (page.halt.isVisible(), window.chat.session.busy) == (True, True)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    wait(qtbot, lambda: not page.running)
    settled(qtbot, window)
    assert page.isVisible()
    assert not window.chat.session.busy
    assert not any(view.isVisible() for view in page.sides.views)
    assert window.findChildren(QtWidgets.QMessageBox) == []
