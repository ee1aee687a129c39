"""Adapters are judged when somebody looks, and once."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import settled, wait
from veneer_app import reads
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
    counted, check = Counter[str](), reads.check

    def counting(adapter, *args):
        counted["all"] += 1
        return check(adapter, *args)

    monkeypatch.setattr(reads, "check", counting)
    return counted


def test_only_what_is_in_sight_is_judged_and_no_adapter_twice(
    full: Path, judged: Counter[str], open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(full)
    library = window.library
    window.go(1)
    wait(qtbot, lambda: len(library.view.rows_in_sight()) > 12)
    qtbot.wait(20)
    settled(qtbot, window)
    seen = judged["all"]
    assert 12 < seen < MANY / 2
    library.refresh()
    library.view.scrollTo(library.found.index(3, 0))
    window.stacks.open_stack("both")
    settled(qtbot, window)
    assert judged["all"] == seen
    assert window.stacks.parts.pile.cards
    library.view.scrollToBottom()
    wait(qtbot, lambda: judged["all"] > seen)
    settled(qtbot, window)
    last = library.found.index(library.found.rowCount() - 1, FITS)
    assert last.data() == "60 of 60"
    assert judged["all"] < MANY


def test_a_filter_by_fit_judges_all(
    full: Path, judged: Counter[str], open_window: Open, qtbot: QtBot
) -> None:
    window = open_window(full)
    library = window.library
    window.go(1)
    library.fits.setCurrentIndex(library.fits.findData("fits"))
    wait(qtbot, lambda: library.found.rowCount() == MANY + 3)
    settled(qtbot, window)
    assert judged["all"] == MANY + 3
    library.fits.setCurrentIndex(0)
    library.view.sortByColumn(FITS, Qt.SortOrder.DescendingOrder)
    settled(qtbot, window)
    assert judged["all"] == MANY + 3
