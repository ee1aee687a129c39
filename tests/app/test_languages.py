"""Another language: loaded before the window, complete where it matters, its numbers in place."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pytestqt.qtbot import QtBot

import veneer_app
from tests.app.conftest import Open
from tests.app.support import settled
from veneer_app import languages
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme.apply import Theme


@pytest.fixture
def german(qapp: QtWidgets.QApplication) -> Iterator[None]:
    assert languages.use(qapp, "de") == "de"
    yield
    assert languages.use(qapp, "en") == "en"


def _messages(file: Path | None = None) -> list[tuple[str, str, str]]:
    """Context, text and translation of each; a translation that is only a guess is none."""
    tree = ElementTree.parse(file or languages.folder() / "veneer_de.ts")
    return [
        (
            context.findtext("name", ""),
            message.findtext("source", ""),
            ""
            if message.find("translation[@type]") is not None
            else message.findtext("translation", ""),
        )
        for context in tree.iter("context")
        for message in context.iter("message")
    ]


def test_the_window_speaks_german(
    german: None, open_window: Open, root: Path, qtbot: QtBot
) -> None:
    window = open_window(root)
    settled(qtbot, window)
    buttons = [b.text() for b in window.rail.findChildren(QtWidgets.QToolButton)]
    assert buttons == ["Chat", "Bibliothek", "Stapel", "Verlauf", "Einstellungen"]
    assert window.topbar.title.text() == "Nichts ist aktiv"
    assert window.stacks.parts.activate.text() == "Aktivieren"
    row = next(r for r in window.library.table.rows if r.name == "pirate")
    index = window.library.found.index_of(lambda shown: shown.digest == row.digest)
    assert window.library.found.index(index.row(), 6).data() == "60 von 60"
    assert window.layoutDirection() == Qt.LayoutDirection.LeftToRight


def test_german_words_fit_into_a_small_window(
    german: None, open_window: Open, root: Path, qtbot: QtBot
) -> None:
    window = open_window(root)
    Theme(QtWidgets.QApplication.instance()).use("light")
    window.resize(900, 600)
    window.go(1)
    library = window.library
    library.view.setCurrentIndex(library.found.index_of(lambda row: row.name == "pirate"))
    settled(qtbot, window)
    details = library.details.acts.parentWidget()

    qtbot.waitUntil(lambda: details.minimumSizeHint().width() <= details.parentWidget().width())
    for place in window.rail.findChildren(QtWidgets.QToolButton):
        bold = QtGui.QFont(place.font())
        bold.setWeight(bold.Weight.DemiBold)
        assert QtGui.QFontMetrics(bold).horizontalAdvance(place.text()) < place.width() - 4


def test_a_language_that_is_not_there_is_english(qapp: QtWidgets.QApplication) -> None:
    assert languages.use(qapp, "xx") == "en"


def test_each_language_is_offered_by_its_own_name() -> None:
    assert ("Deutsch", "de") in languages.known()


def test_every_text_of_the_window_is_translated(tmp_path: Path) -> None:
    """pyside6-lupdate adds what is new in the code as unfinished, and drops what is gone."""
    source = Path(veneer_app.__file__).parent
    gathered = tmp_path / "veneer_de.ts"
    shutil.copy(languages.folder() / gathered.name, gathered)
    tool = Path(sys.executable).with_name("pyside6-lupdate")
    files = [str(path) for path in sorted(source.rglob("*.py"))]
    subprocess.run([tool, *files, "-ts", gathered, "-no-obsolete"], check=True, capture_output=True)
    there = {(context, text) for context, text, _ in _messages(gathered)}
    missing = {(context, text) for context, text, said in _messages(gathered) if not said}
    assert len(there) > 400
    assert missing == set()
    assert {(context, text) for context, text, _ in _messages()} == there


def test_what_is_loaded_is_what_was_translated() -> None:
    """pyside6-lrelease was run after the last change."""
    loaded = QtCore.QTranslator()
    assert loaded.load(str(languages.folder() / "veneer_de.qm"))
    wrong = [
        (context, source)
        for context, source, said in _messages()
        if loaded.translate(context, source) != said
    ]
    assert wrong == []


def test_a_translation_keeps_what_is_filled_in() -> None:
    done = [(source, said) for _, source, said in _messages()]
    wrong = [
        source
        for source, said in done
        if sorted(re.findall(r"{\w*}", source)) != sorted(re.findall(r"{\w*}", said))
    ]
    assert wrong == []
