"""What pictures showed: room for what matters at any width, and words for each state."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import chip, drop, mime_of, settled, wait
from veneer.activation.journal import Generation
from veneer.adapters.compat import CompatReport
from veneer.adapters.problem import Problem
from veneer.identity import Digest
from veneer_app.chat.prose import ProseText
from veneer_app.history.rows import state_of
from veneer_app.library.rows import tone_of, verdict
from veneer_app.qt import Qt, QtGui
from veneer_app.reads import Past
from veneer_app.theme import icons
from veneer_app.window import MainWindow


def _past(reason: str | None) -> Past:
    generation = Generation(
        number=1,
        composition=Digest("sha256:a"),
        requested_by="window",
        restores=None,
        state="ABORTED",
        reason=reason,
        timings_ms={},
        transitions=(),
    )
    return Past(generation, "a", (), active=False)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("CANCELLED: Stopped. Nothing was changed.", "Stopped"),
        ("INCOMPATIBLE: Made for another model.", "Failed"),
        ("interrupted", "Failed"),
    ],
)
def test_what_a_person_stopped_did_not_fail(reason: str, said: str) -> None:
    assert state_of(_past(reason)) == said


def test_a_fit_by_shape_alone_is_said() -> None:
    report = CompatReport(ok=True, applies=2, of=2, problems=(), fit="shape", doubts=("Who?",))
    assert (verdict(report), tone_of(report)) == ("Applies 2 of 2 tensors. Who?", "text")
    sure = CompatReport(ok=True, applies=2, of=2, problems=(), fit="digest")
    assert (verdict(sure), tone_of(sure)) == (
        "Applies 2 of 2 tensors. Made for exactly this base.",
        "good",
    )


def test_a_refusal_says_three_reasons_and_how_many_more_there_are() -> None:
    problems = tuple(Problem(code="SHAPE", message=f"{n}.") for n in range(5))
    report = CompatReport(ok=False, applies=0, of=5, problems=problems, fit="no")
    assert verdict(report) == "Refused (applies 0 of 5 tensors). 0. 1. 2. And 2 more."


def test_code_has_a_ground_of_its_own(qtbot: QtBot) -> None:
    shown = ProseText("Answer")
    qtbot.addWidget(shown)
    shown.say("before\n\n```\ncode\n```\n")
    document, grounds = shown.document(), {}
    block = document.begin()
    while block.isValid():
        grounds[block.text()] = block.blockFormat().background().style()
        block = block.next()
    assert grounds["before"] == Qt.BrushStyle.NoBrush
    assert grounds["code"] == Qt.BrushStyle.SolidPattern


def test_an_icon_keeps_away_from_the_words_beside_it() -> None:
    drawn = icons.icon("plus", gap=4).pixmap(20, 16)
    assert (drawn.width(), drawn.height()) == (20, 16)
    assert QtGui.QImage(drawn.toImage()).pixelColor(18, 8).alpha() == 0


def test_a_narrow_library_leaves_out_what_the_details_say(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    window.resize(1200, 800)
    wait(qtbot, lambda: not window.library.view.isColumnHidden(5))
    window.resize(900, 600)
    wait(qtbot, lambda: window.library.view.isColumnHidden(5))
    assert window.library.view.columnWidth(0) > 120


def test_the_tray_is_as_high_as_its_rows(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF\x03")
    drop(window, mime_of([broken]))
    wait(qtbot, lambda: all(i.over for i in window.services.imports.items()))
    settled(qtbot, window)
    (row,) = window.tray.rows.values()
    assert row.height() <= window.tray.height() <= row.height() + 32


def test_the_chat_says_what_to_do_while_nothing_runs(window: MainWindow, qtbot: QtBot) -> None:
    assert window.chat.begin.title.text() == "Nothing is running yet"
    chip(window, "Base only").click()
    wait(qtbot, lambda: window.chat.begin.title.text() == "Ask something")
    settled(qtbot, window)


def test_the_build_of_llama_cpp_is_told_when_asked(window: MainWindow, qtbot: QtBot) -> None:
    settings = window.settings
    settings.about.ask_build.click()
    wait(qtbot, settings.about.build.text)
    settled(qtbot, window)
    assert settings.about.ask_build.isHidden()
