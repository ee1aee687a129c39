"""Another language: loaded before the window, complete where it matters, its numbers in place."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import settled
from veneer_app import languages
from veneer_app.qt import Qt, QtWidgets


@pytest.fixture
def german(qapp: QtWidgets.QApplication) -> Iterator[None]:
    assert languages.use(qapp, "de") == "de"
    yield
    assert languages.use(qapp, "en") == "en"


def _messages() -> list[tuple[str, str]]:
    tree = ElementTree.parse(languages.folder() / "veneer_de.ts")
    return [
        (message.findtext("source", ""), message.findtext("translation", ""))
        for message in tree.iter("message")
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


def test_a_language_that_is_not_there_is_english(qapp: QtWidgets.QApplication) -> None:
    assert languages.use(qapp, "xx") == "en"


def test_each_language_is_offered_by_its_own_name() -> None:
    assert ("Deutsch", "de") in languages.known()


def test_a_translation_keeps_what_is_filled_in() -> None:
    done = [(source, said) for source, said in _messages() if said]
    assert len(done) > 300
    wrong = [
        source
        for source, said in done
        if sorted(re.findall(r"{\w*}", source)) != sorted(re.findall(r"{\w*}", said))
    ]
    assert wrong == []
