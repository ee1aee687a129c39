"""The Library: what the table says, the search, and what an owner changes."""

from pytestqt.qtbot import QtBot

from tests.app.support import settled, wait
from veneer_app.library.facts import facts_of
from veneer_app.parts.table import ROW
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow


def _cells(window: MainWindow, name: str) -> list[str]:
    model = window.library.found
    index = model.index_of(lambda row: row.name == name)
    return [model.index(index.row(), n).data() for n in range(model.columnCount())]


def _facts(window: MainWindow, name: str) -> dict[str, str]:
    row = next(r for r in window.library.table.rows if r.name == name)
    return dict(facts_of(row.stored, row.context))


def _select(window: MainWindow, name: str) -> None:
    index = window.library.found.index_of(lambda row: row.name == name)
    window.library.view.setCurrentIndex(index)


def test_the_table_says_what_there_is(window: MainWindow) -> None:
    model = window.library.table
    titles = [model.headerData(n, Qt.Orientation.Horizontal) for n in range(model.columnCount())]
    assert titles == ["Name", "Kind", "Rank", "Tensors", "Size", "Made for", "Fits"]
    assert _cells(window, "smol") == ["smol", "Base", "", "272", "98.4 MB", "", ""]
    assert _cells(window, "pirate")[:4] == ["pirate", "LoRA", "8", "60"]
    assert _cells(window, "pirate")[6] == "60 of 60"


def test_the_table_keeps_the_rules_of_qt(window: MainWindow, qtmodeltester: object) -> None:
    qtmodeltester.check(window.library.table, force_py=True)
    qtmodeltester.check(window.stacks.parts.stack_model, force_py=True)


def test_searching_leaves_what_was_searched_for(window: MainWindow) -> None:
    window.library.search.setText("PIR")
    found = window.library.found
    assert [found.index(n, 0).data(ROW).name for n in range(found.rowCount())] == ["pirate"]


def test_the_verdict_is_in_words(window: MainWindow) -> None:
    window.go(1)
    _select(window, "pirate")
    assert window.library.details.verdict.text() == (
        "Applies 60 of 60 tensors. Made for a model of this name."
    )


def test_a_base_tells_what_it_is_made_of(window: MainWindow, qtbot: QtBot) -> None:
    facts = _facts(window, "smol")
    assert facts["Attention"] == "Q4_1 16.6 MB"
    assert facts["Embeddings"] == "Q8_0 30.1 MB"
    assert facts["Vocabulary"] == "49152, gpt2"
    assert facts["Made by"] == "HuggingFaceTB"
    assert facts["Chat template"].startswith("{% for message in messages %}")
    assert facts["Memory at 4096"].endswith(" MB")
    window.settings.n_ctx.setValue(1024)
    wait(qtbot, lambda: "Memory at 1024" in _facts(window, "smol"))
    settled(qtbot, window)


def test_an_owners_notes_are_kept(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "terse")
    details = window.library.details
    details.notes.strength.setValue(0.6)
    settled(qtbot, window)
    details.name.setText("short answers")
    details.name.editingFinished.emit()
    wait(qtbot, lambda: any(r.name == "short answers" for r in window.library.table.rows))
    settled(qtbot, window)
    row = next(r for r in window.library.table.rows if r.name == "short answers")
    assert row.stored.default_scale == 0.6
    assert window.library.details.name.text() == "short answers"


def test_what_a_stack_needs_is_not_removed(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "json")
    window.library.details.remove.click()
    box = window.library.details.findChild(QtWidgets.QMessageBox)
    assert box.text() == "Remove “json”?"
    next(b for b in box.buttons() if b.text() == "Remove").click()
    wait(qtbot, window.notices.isVisible)
    assert window.notices.code.text() == "IN_USE"
    assert "“objects”" in window.notices.sentence.text()
    assert any(r.name == "json" for r in window.library.table.rows)
    settled(qtbot, window)
