"""What the window is for, with the real model: import, stack, activate, chat, stop, go back."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.support import PATIENCE, ask, chip, drop, footers, mime_of, settled, wait
from veneer_app.qt import Qt
from veneer_app.window import MainWindow


def test_from_an_empty_window_to_an_answer_and_back(
    fresh: MainWindow, qtbot: QtBot, base_path: Path, adapter_paths: dict[str, Path]
) -> None:
    window = fresh
    assert window.chat.first.isVisible()
    drop(window, mime_of([base_path, adapter_paths["pirate"]]))
    wait(qtbot, lambda: len(window.library.table.rows) == 2)
    settled(qtbot, window)
    assert [row.kind for row in window.library.table.rows] == ["base", "adapter"]
    wait(qtbot, lambda: window.chat.first.step == "hello")

    qtbot.keyClick(window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, lambda: window.places.currentWidget() is window.stacks)
    stacks = window.stacks
    adder = stacks.parts.adder.menu()
    adder.triggered.emit(adder.actions()[0])
    (card,) = stacks.parts.pile.cards.values()
    assert card.name.text() == "pirate"
    wait(qtbot, lambda: card.badge.text() == "60 of 60 tensors")
    card.strength.field.setValue(1.5)
    assert stacks.editor.draft.parts[0][1] == 1.5
    card.strength.field.setValue(1.0)
    qtbot.keyClicks(stacks.parts.name, "matey")
    stacks.shelf.save()
    wait(qtbot, lambda: "matey" in [line.title for line in stacks.parts.stack_model.lines])
    stacks.activate()
    wait(qtbot, lambda: window.services.switch.state.status == "done")
    settled(qtbot, window)
    assert set(window.services.switch.state.took_ms) == {"VALIDATED", "STAGED", "COMMITTED"}
    assert window.topbar.title.text() == "matey"
    assert window.topbar.dot.light == "active"
    assert stacks.parts.against.text() == "This is what is active."

    window.go(0)
    assert not window.chat.first.isVisible()
    window.chat.composer.panel.greedy.setChecked(True)
    ask(qtbot, window, "Write a sentence about the sun.")
    wait(qtbot, lambda: len(window.chat.transcript.answers) == 1)
    settled(qtbot, window)
    (footer,) = footers(window.chat.transcript)
    assert footer.startswith("matey · ")
    assert footer.endswith(" · complete")
    assert "matey" in window.chat.transcript.answers[0].body.toPlainText()
    assert window.topbar.speed.text().endswith("tok/s")

    qtbot.mouseClick(chip(window, "Base only"), Qt.MouseButton.LeftButton)
    wait(qtbot, lambda: window.topbar.title.text() == "SmolLM2-135M-Instruct.Q4_1")
    settled(qtbot, window)
    assert chip(window, "Base only").isChecked()
    assert not chip(window, "matey").isChecked()

    window.topbar.roll_back()
    wait(qtbot, lambda: window.topbar.title.text() == "matey")
    settled(qtbot, window)
    past = window.history.table.rows
    assert [p.generation.number for p in past] == [3, 2, 1]
    assert past[0].generation.restores == 1
    assert past[0].generation.requested_by == "window"
    assert [p.active for p in past] == [True, False, False]


def test_an_answer_is_stopped_and_kept(window: MainWindow, qtbot: QtBot) -> None:
    chip(window, "Base only").click()
    wait(qtbot, lambda: window.services.switch.state.status == "done")
    settled(qtbot, window)
    ask(qtbot, window, "Write a very long story about a house, with all its rooms.")
    wait(qtbot, lambda: window.chat.session.stream.text)
    live = window.chat.transcript.live
    assert live is not None
    assert window.chat.composer.stop.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    wait(qtbot, lambda: footers(window.chat.transcript))
    assert footers(window.chat.transcript)[0].endswith(" · stopped")
    assert not window.chat.composer.stop.isVisible()
    settled(qtbot, window)


def test_switching_during_an_answer_ends_and_marks_it(window: MainWindow, qtbot: QtBot) -> None:
    chip(window, "Base only").click()
    wait(qtbot, lambda: window.services.switch.state.status == "done")
    settled(qtbot, window)
    window.chat.composer.panel.greedy.setChecked(True)
    ask(qtbot, window, "Write a very long story about a house, with all its rooms.")
    wait(qtbot, lambda: window.chat.session.stream.text)
    chip(window, "pirates").click()
    wait(qtbot, lambda: window.topbar.title.text() == "pirates")
    settled(qtbot, window)
    (cut,) = window.chat.transcript.answers
    assert cut.footer.text().endswith(" · the composition was changed")
    assert cut.footer.property("role") == "bad"

    ask(qtbot, window, "Say hello.")
    wait(qtbot, lambda: len(window.chat.transcript.answers) == 2)
    settled(qtbot, window)
    made_by = [footer.partition(" · ")[0] for footer in footers(window.chat.transcript)]
    assert made_by == ["plain", "pirates"]


def test_history_rolls_back_to_the_one_that_is_selected(window: MainWindow, qtbot: QtBot) -> None:
    for name in ("Base only", "pirates", "objects"):
        chip(window, name).click()
        wait(qtbot, lambda: window.services.switch.state.status == "done")
        settled(qtbot, window)
    history = window.history
    window.go(3)
    history.view.setCurrentIndex(history.found.index_of(lambda p: p.generation.number == 1))
    assert history.events.back.isVisible()
    with qtbot.waitSignal(window.operations.changed, timeout=PATIENCE):
        history.events.back.click()
    settled(qtbot, window)
    newest = history.table.rows[0].generation
    assert (newest.number, newest.restores) == (4, 1)
    assert not history.events.back.isVisible() or history.events.title.text() == "Generation 1"
