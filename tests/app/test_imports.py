"""Bringing files in: the overlay, progress, and failures that stay with their reason."""

import shutil
from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.support import drop, enter, mime_of, settled, wait
from veneer_app.imports.queue import ImportItem
from veneer_app.imports.tray import ImportRow
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.window import MainWindow


def test_files_over_the_window_are_welcomed(window: MainWindow, tmp_path: Path) -> None:
    event = enter(window, mime_of([tmp_path]))
    assert event.isAccepted()
    assert window.overlay.isVisible()
    assert window.overlay.geometry() == window.rect()
    drop(window, mime_of([tmp_path / "nothing.gguf"]))
    assert not window.overlay.isVisible()


def test_text_over_the_window_is_not(window: MainWindow) -> None:
    data = QtCore.QMimeData()
    data.setText("hello")
    enter(window, data)
    assert not window.overlay.isVisible()


def test_a_bad_file_stays_with_its_reason_and_stops_nothing(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, foreign_adapter: Path
) -> None:
    broken, pickle = tmp_path / "broken.gguf", tmp_path / "adapter_model.bin"
    broken.write_bytes(b"GGUF\x03")
    pickle.write_bytes(b"\x80\x04.")
    drop(window, mime_of([broken, pickle, foreign_adapter]))
    wait(qtbot, lambda: all(i.over for i in window.services.imports.items()))
    settled(qtbot, window)
    items = window.services.imports.items()
    assert [i.status for i in items] == ["failed", "failed", "done"]
    assert items[0].code.startswith("FORMAT")
    assert items[1].code == "PICKLE_REFUSED"
    names = [row.name for row in window.library.table.rows]
    assert names == ["smol", "foreign", "json", "pirate", "terse"]

    row = window.tray.rows[items[0].number]
    assert row.isVisible()
    assert row.sentence.text() == items[0].sentence
    row.copy.click()
    copied = QtWidgets.QApplication.clipboard().text()
    assert copied == f"{broken}\nerror[{items[0].code}]: {items[0].sentence}"
    row.dismiss.click()
    assert items[0].number not in window.tray.rows


def test_one_click_brings_in_the_embedded_base_and_runs_it(fresh: MainWindow, qtbot: QtBot) -> None:
    use = next(
        b
        for b in fresh.library.empty.findChildren(QtWidgets.QPushButton)
        if b.text() == "Use the embedded model"
    )
    use.click()
    wait(qtbot, lambda: fresh.topbar.dot.light == "active")
    settled(qtbot, fresh)
    assert fresh.topbar.title.text() == "SmolLM2-135M-Instruct.Q4_1"
    assert fresh.chat.begin.isVisible()


def test_a_folder_brings_in_everything_in_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, foreign_adapter: Path
) -> None:
    folder = tmp_path / "many"
    shutil.copytree(foreign_adapter, folder / "inner" / "other")
    (folder / "broken.gguf").write_bytes(b"GGUF")
    (folder / "notes.txt").write_text("not a model")
    drop(window, mime_of([folder]))
    wait(qtbot, lambda: len(window.services.imports.items()) == 2)
    wait(qtbot, lambda: all(i.over for i in window.services.imports.items()))
    settled(qtbot, window)
    assert {i.name: i.status for i in window.services.imports.items()} == {
        "broken.gguf": "failed",
        "other": "done",
    }


def test_a_watched_folder_brings_in_what_is_and_what_comes(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, foreign_adapter: Path, stranger: Path
) -> None:
    folder = tmp_path / "watched"
    shutil.copytree(foreign_adapter, folder / "before")
    window.settings.keep(watched=(str(folder),))
    wait(qtbot, lambda: any(r.name == "before" for r in window.library.table.rows))
    shutil.copytree(stranger, folder / "after")
    wait(qtbot, lambda: any(r.name == "after" for r in window.library.table.rows))
    settled(qtbot, window)
    assert [i.status for i in window.services.imports.items()] == ["done", "done"]


def test_the_rate_is_told_while_it_runs(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    row = ImportRow(window.services.imports, 1)
    qtbot.addWidget(row)
    row.show_item(ImportItem(1, tmp_path, "running", 5_000_000, 20_000_000, 1_500_000))
    assert row.sentence.text() == "5.0 MB / 20.0 MB, 1.5 MB/s"
    assert (row.bar.value(), row.cancel.isHidden()) == (250, False)
