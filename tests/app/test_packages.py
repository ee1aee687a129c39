"""A stack leaves one window as a file and comes into another by being dropped on it."""

import zipfile
from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import drop, mime_of, settled, wait
from veneer_app.window import MainWindow


def test_a_stack_is_given_away_and_dropped_elsewhere(
    window: MainWindow, qtbot: QtBot, open_window: Open, tmp_path: Path, base_path: Path
) -> None:
    file = tmp_path / "both.slm"
    window.stacks.open_stack("both")
    assert window.stacks.parts.menu.export.isEnabled()
    window.stacks.shelf.export_to("both", file)
    wait(qtbot, window.notices.isVisible)
    settled(qtbot, window)
    assert str(file) in window.notices.sentence.text()

    other = open_window(tmp_path / "other")
    drop(other, mime_of([base_path, file]))
    wait(qtbot, lambda: other.stacks.shelf.now.stack("both"))
    settled(qtbot, other)
    here, there = (w.stacks.shelf.now.stack("both") for w in (window, other))
    assert there.id == here.id
    other.go(2)
    other.stacks.open_stack("both")
    assert [scale for _, scale in other.stacks.editor.draft.parts] == [1.0, 0.5]


def test_a_package_without_its_base_says_which_one_it_wants(
    window: MainWindow, qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    file = tmp_path / "both.slm"
    window.stacks.shelf.export_to("both", file)
    wait(qtbot, file.exists)
    settled(qtbot, window)
    assert zipfile.is_zipfile(file)
    other = open_window(tmp_path / "other")
    drop(other, mime_of([file]))
    wait(qtbot, lambda: all(i.over for i in other.services.imports.items()))
    settled(qtbot, other)
    (item,) = other.services.imports.items()
    assert (item.status, item.code) == ("failed", "NOT_FOUND")
    assert "“smol”" in item.sentence
    assert other.library.table.rows == ()
