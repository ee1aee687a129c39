"""The History: the line of time, one generation with its transitions, and the way back."""

import re
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import PATIENCE, settled, wait
from veneer import Workspace
from veneer.activation.journal import Generation, Journal, Requester, Transition
from veneer.identity import Digest
from veneer_app.history.moments import moments_of
from veneer_app.history.place import HistoryPlace
from veneer_app.qt import Qt
from veneer_app.reads import Past
from veneer_app.window import MainWindow


@pytest.fixture
def eventful(root: Path, open_window: Open) -> MainWindow:
    """Two generations that were active, one that failed and one that was stopped."""
    with Workspace.open(root) as workspace:
        both, plain = (workspace.stacks.find(name).id for name in ("both", "plain"))
        journal = workspace.journal
        _commit(journal, both, "cli")
        _commit(journal, plain, "window")
        journal.abort(journal.request(both, "api"), "DAMAGED: It is damaged.")
        journal.abort(journal.request(both, "cli"), "CANCELLED: Stopped.")
    made = open_window(root)
    made.go(3)
    return made


def _commit(journal: Journal, composition: Digest, by: Requester) -> None:
    number = journal.request(composition, by)
    journal.advance(number, "VALIDATED")
    journal.advance(number, "STAGED")
    took = {"validate": 3.0, "stage": 9.0, "stage_base": 8.0, "stage_probe": 0.5}
    journal.commit(number, took)


def _cells(history: HistoryPlace) -> list[list[str]]:
    model = history.found
    columns = [n for n in range(model.columnCount()) if n != 4]
    return [[model.index(r, n).data() for n in columns] for r in range(model.rowCount())]


def _select(history: HistoryPlace, number: int) -> None:
    index = history.found.index_of(lambda past: past.generation.number == number)
    history.view.setCurrentIndex(index)


def test_the_line_of_time_says_what_was_active_and_who_asked(eventful: MainWindow) -> None:
    cells = [row[:4] for row in _cells(eventful.history)]
    assert cells == [
        ["4", "both", "Command line", "Stopped"],
        ["3", "both", "Another program", "Failed"],
        ["2", "plain", "Window", "Active"],
        ["1", "both", "Command line", "Was active"],
    ]


def test_a_generation_says_what_it_is_made_of_and_why_it_ended(eventful: MainWindow) -> None:
    history = eventful.history
    _select(history, 3)
    lines = history.events.about.text().splitlines()
    assert lines[:4] == ["both", "   terse 0.5", "   pirate 1.0", "   smol"]
    assert history.events.reason.text() == "DAMAGED: It is damaged."
    assert history.events.reason.property("role") == "bad"
    assert [m.what for m in history.events.moments] == ["Requested", "Aborted"]
    assert not history.events.back.isVisible()
    _select(history, 1)
    assert not history.events.reason.isVisible()
    whats = [m.what for m in history.events.moments]
    assert whats == ["Requested", "Validated", "Staged", "Committed"]
    parts = history.events.moments[2].parts
    assert parts == (("load the base", "8.0 ms"), ("probe", "0.5 ms"))
    assert _cells(history)[3][4] == "12 ms"


def test_each_transition_has_its_time_and_how_long_it_took() -> None:
    at = "2026-01-02T03:04:0{}+00:00".format
    transitions = (
        Transition("REQUESTED", at("5.000")),
        Transition("VALIDATED", at("5.040")),
        Transition("ABORTED", at("7.540")),
    )
    generation = Generation(
        number=1,
        composition=Digest("a"),
        requested_by="window",
        restores=None,
        state="ABORTED",
        reason="CANCELLED: Stopped.",
        timings_ms={},
        transitions=transitions,
    )
    moments = moments_of(Past(generation, "a", (), active=False))
    assert [m.after for m in moments] == ["", "+40 ms", "+2.5 s"]
    assert [m.what for m in moments] == ["Requested", "Validated", "Stopped"]
    assert [re.sub(r"^\d\d:\d\d", "", m.at) for m in moments] == [":05.000", ":05.040", ":07.540"]


def test_the_keys_roll_back_to_the_one_that_is_selected(eventful: MainWindow, qtbot: QtBot) -> None:
    history = eventful.history
    _select(history, 3)
    qtbot.keyClick(history.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not eventful.services.switch.running
    _select(history, 1)
    with qtbot.waitSignal(eventful.operations.changed, timeout=PATIENCE):
        qtbot.keyClick(history.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settled(qtbot, eventful)
    wait(qtbot, lambda: len(history.table.rows) == 5)
    assert _cells(history)[0][:4] == ["5", "both, back to 1", "Window", "Active"]


def test_the_older_ones_are_shown_when_asked_for(
    root: Path, open_window: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veneer_app.history.place._AT_ONCE", 2)
    with Workspace.open(root) as workspace:
        plain = workspace.stacks.find("plain").id
        for _ in range(3):
            workspace.journal.abort(workspace.journal.request(plain, "cli"), "CANCELLED: Stopped.")
    history = open_window(root).history
    assert [row[0] for row in _cells(history)] == ["3", "2"]
    assert not history.older.isHidden()
    history.older.click()
    wait(qtbot, lambda: len(history.table.rows) == 3)
    assert history.older.isHidden()
