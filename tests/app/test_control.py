"""The window carries out what a terminal asks of its workspace, and shows it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import settled, wait
from tests.engine.cli.support import VENEER
from veneer.cli.run import serve
from veneer_app.qt import QtWidgets
from veneer_app.window import MainWindow

QUIET = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_WAIT_POLICY": "PASSIVE"}


@pytest.fixture
def served(window: MainWindow) -> Iterator[MainWindow]:
    """The window, as `veneer` opens it."""
    with serve(window.operations._workspace, window.operations.announce, window.come_to_front):
        yield window


def veneer(qtbot: QtBot, window: MainWindow, *words: str) -> tuple[int, str]:
    """A command line in another process, while the window's event loop runs."""
    root = str(window.operations._workspace.root)
    process = subprocess.Popen(
        [*VENEER, "--workspace", root, *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=QUIET,
    )  # fmt: skip
    with process:
        wait(qtbot, lambda: process.poll() is not None)
        assert process.stdout is not None
        return process.returncode, process.stdout.read()


def test_activate_in_a_terminal_switches_the_open_window(served: MainWindow, qtbot: QtBot) -> None:
    code, said = veneer(qtbot, served, "activate", "pirates")
    assert (code, said.startswith("generation 1: ")) == (0, True), said
    wait(qtbot, lambda: served.topbar.title.text() == "pirates")
    code, said = veneer(qtbot, served, "chat", "-p", "Write a sentence about the sun.", "--greedy")
    assert code == 0
    assert "matey" in said
    settled(qtbot, served)
    generation, _ = served.operations._workspace.active() or pytest.fail("nothing is active")
    assert generation.requested_by == "cli"


def test_a_stack_made_in_a_terminal_appears_in_the_window(served: MainWindow, qtbot: QtBot) -> None:
    code, said = veneer(qtbot, served, "compose", "dawn", "--base", "smol", "--adapter", "terse=1")
    assert code == 0, said
    wait(qtbot, lambda: "dawn" in [c.accessibleName() for c in served.chat.switcher.chips])


def test_a_second_window_hands_its_files_to_the_first_and_raises_it(
    served: MainWindow, qtbot: QtBot, adapter_paths: dict[str, Path]
) -> None:
    served.showMinimized()
    code, said = veneer(qtbot, served, "window", str(adapter_paths["pirate"]))
    assert (code, said) == (0, "")
    wait(qtbot, lambda: not served.isMinimized())
    wait(qtbot, served.tray.isVisible)
    settled(qtbot, served)
    labels = [label.text() for label in served.tray.findChildren(QtWidgets.QLabel)]
    assert any("pirate" in text for text in labels), labels
