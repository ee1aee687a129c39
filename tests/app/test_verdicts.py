"""Adapters are judged when somebody looks, and once."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import settled, wait
from tests.engine.store.test_witnesses import HEAD, adapter, tiny_base
from veneer import Workspace
from veneer.store import library
from veneer_app.library.rows import FITS
from veneer_app.qt import Qt

MANY = 60


@pytest.fixture
def full(root: Path) -> Path:
    """A workspace with one adapter under sixty names."""
    with sqlite3.connect(root / "veneer.db") as connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM adapters WHERE name = 'pirate'").fetchone())
        places = ", ".join(f":{name}" for name in row)
        for number in range(MANY):
            copy = row | {"digest": f"sha256:{number:064x}", "name": f"pirate {number:02}"}
            connection.execute(f"INSERT INTO adapters VALUES ({places})", copy)
    connection.close()
    return root


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each adapter was judged, by its description."""
    counted, check = Counter[str](), library.check

    def counting(adapter, *args):
        counted["all"] += 1
        return check(adapter, *args)

    monkeypatch.setattr(library, "check", counting)
    return counted


def test_only_what_is_in_sight_is_judged_and_no_adapter_twice(
    full: Path, judged: Counter[str], open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(full)
    place = window.library
    window.go(1)
    wait(qtbot, lambda: len(place.view.rows_in_sight()) > 12)
    qtbot.wait(20)
    settled(qtbot, window)
    seen = judged["all"]
    assert 12 < seen < MANY / 2
    place.refresh()
    place.view.scrollTo(place.found.index(3, 0))
    window.stacks.open_stack("both")
    settled(qtbot, window)
    assert judged["all"] == seen
    assert window.stacks.parts.pile.cards
    place.view.scrollToBottom()
    wait(qtbot, lambda: judged["all"] > seen)
    settled(qtbot, window)
    last = place.found.index(place.found.rowCount() - 1, FITS)
    assert last.data() == "60 of 60"
    assert judged["all"] < MANY


def test_a_filter_by_fit_judges_all(
    full: Path, judged: Counter[str], open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(full)
    place = window.library
    window.go(1)
    place.fits.setCurrentIndex(place.fits.findData("fits"))
    wait(qtbot, lambda: place.found.rowCount() == MANY + 3)
    settled(qtbot, window)
    assert judged["all"] == MANY + 3
    place.fits.setCurrentIndex(0)
    place.view.sortByColumn(FITS, Qt.SortOrder.DescendingOrder)
    settled(qtbot, window)
    assert judged["all"] == MANY + 3


def test_the_weights_of_the_base_are_looked_at_as_they_are_for_an_activation(
    tmp_path: Path, open_window: Open, qtbot: QtBot
) -> None:
    """Everything but the sample of the base's weights fits."""
    copies = tiny_base(tmp_path / "tiny.gguf")
    copies[HEAD][3] *= 1.1
    with Workspace.open(tmp_path / "ws") as workspace:
        workspace.import_path(tmp_path / "tiny.gguf", name="tiny")
        workspace.import_path(adapter(tmp_path / "both", copies), name="both")
    window = open_window(tmp_path / "ws")
    window.go(1)
    place = window.library
    index = place.found.index_of(lambda row: row.name == "both")
    wait(qtbot, lambda: place.found.index(index.row(), FITS).data() == "Refused")
