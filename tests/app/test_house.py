"""Rules for the whole window: names for everything, no llama.cpp, no Qt but the shim's."""

import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import veneer_app
from tests.app.support import settled
from veneer_app import text
from veneer_app.qt import QtWidgets
from veneer_app.shots import scenes
from veneer_app.window import MainWindow

SOURCES = sorted(Path(veneer_app.__file__).parent.rglob("*.py"))
NAMED = (
    QtWidgets.QAbstractButton,
    QtWidgets.QLineEdit,
    QtWidgets.QTextEdit,
    QtWidgets.QPlainTextEdit,
    QtWidgets.QAbstractSpinBox,
    QtWidgets.QAbstractSlider,
    QtWidgets.QComboBox,
    QtWidgets.QAbstractItemView,
)
QT_OWN = (QtWidgets.QScrollBar, QtWidgets.QHeaderView)


def _is_qts_own(widget: QtWidgets.QWidget) -> bool:
    parent = widget.parentWidget()
    inner = isinstance(parent, QtWidgets.QAbstractSpinBox | QtWidgets.QComboBox)
    corner = isinstance(parent, QtWidgets.QTableView) and isinstance(
        widget, QtWidgets.QAbstractButton
    )
    popup = parent is not None and parent.metaObject().className().startswith("QComboBoxPrivate")
    return isinstance(widget, QT_OWN) or inner or corner or popup or "qt_" in widget.objectName()


def _nameless(roots: Iterable[QtWidgets.QWidget]) -> list[str]:
    controls = [w for root in roots for w in root.findChildren(QtWidgets.QWidget)]
    assert len(controls) > 40
    return [
        f"{type(w).__name__} in {type(w.parentWidget()).__name__}"
        for w in controls
        if isinstance(w, NAMED) and not _is_qts_own(w) and not w.accessibleName()
    ]


def test_every_control_of_an_empty_window_has_an_accessible_name(fresh: MainWindow) -> None:
    assert _nameless([fresh, fresh.chat.composer.panel]) == []


def test_every_control_has_an_accessible_name_in_every_state(
    window: MainWindow, qtbot: QtBot
) -> None:
    # What the scenes show is not there, so what is asked about it is refused.
    window.operations.refused.disconnect(window.notices.show_error)
    for scene in scenes.of_workspace():
        over = scene.arrange(window)
        roots = [window, window.chat.composer.panel, *([over] if over is not None else [])]
        assert (scene.name, _nameless(roots)) == (scene.name, [])
        if over is not None:
            over.close()
        scene.leave(window)
    settled(qtbot, window)


def test_no_text_field_takes_a_file_from_the_window(window: MainWindow) -> None:
    fields = window.findChildren(QtWidgets.QLineEdit) + window.findChildren(
        QtWidgets.QPlainTextEdit
    )
    takers = [f.accessibleName() or type(f).__name__ for f in fields if f.acceptDrops()]
    assert takers == []


def test_no_label_guesses_at_rich_text(window: MainWindow) -> None:
    labels = window.findChildren(QtWidgets.QLabel)
    rich = [x.text() for x in labels if x.text() and x.textFormat().name != "PlainText"]
    assert rich == []


def test_the_window_never_loads_llama_cpp() -> None:
    names = [m.name for m in pkgutil.walk_packages(veneer_app.__path__, "veneer_app.")]
    assert len(names) > 40
    lines = "\n".join(f"import {name}" for name in names)
    script = f"{lines}\nimport sys\nprint('llama_cpp' in sys.modules, 'PySide6' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


def test_only_the_shim_imports_qt() -> None:
    found = [s.name for s in SOURCES if re.search(r"(import|from) PySide6", s.read_text("utf-8"))]
    assert found == ["qt.py"]


def test_files_stay_small() -> None:
    long = {s.name: n for s in SOURCES if (n := len(s.read_text("utf-8").splitlines())) > 400}
    assert long == {}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\u202eb\x00c", "abc"),
        ("two\nlines", "two lines"),
        ("x" * 500, "x" * 159 + "…"),
        (None, ""),
    ],
)
def test_foreign_text_is_made_harmless(given: str | None, shown: str) -> None:
    assert text.plain(given) == shown
