"""From a hub into the library, and the token that opens what is private."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import drop, wait
from tests.engine.hubs import Hub, serving
from tests.engine.keyrings import LockedKeyring, MemoryKeyring, using
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.window import MainWindow


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, adapter_paths: dict[str, Path]) -> Iterator[Hub]:
    files = {p.name: p.read_bytes() for p in adapter_paths["pirate"].iterdir() if p.is_file()}
    stock = Hub({"crew/pirate": files}, private={"crew/pirate"})
    with serving(stock), using(MemoryKeyring()):
        monkeypatch.setenv("VENEER_HUB", stock.address)
        yield stock


def names(window: MainWindow) -> list[str]:
    return [row.name for row in window.library.table.rows]


def ask_for(window: MainWindow, repository: str) -> None:
    window.topbar.fetch.click()
    dialog = window.findChild(QtWidgets.QInputDialog)
    assert isinstance(dialog, QtWidgets.QInputDialog)
    dialog.setTextValue(repository)
    dialog.accept()


def test_a_private_adapter_comes_with_the_token(hub: Hub, fresh: MainWindow, qtbot: QtBot):
    ask_for(fresh, "crew/pirate")
    items = fresh.services.imports.items
    wait(qtbot, lambda: [item.status for item in items()] == ["failed"])
    assert "or it is private and needs the token" in items()[0].sentence
    assert names(fresh) == []
    fresh.go(4)
    token = fresh.settings.hub
    assert not token.forget.isEnabled()
    qtbot.keyClicks(token.field, hub.token)
    token.keep.click()
    wait(qtbot, token.forget.isEnabled)
    assert token.field.text() == ""
    token.keep.click()
    wait(qtbot, lambda: fresh.operations.idle)
    assert token.forget.isEnabled()
    ask_for(fresh, "crew/pirate")
    wait(qtbot, lambda: names(fresh) == ["pirate"])
    token.forget.click()
    wait(qtbot, lambda: not token.forget.isEnabled())


def test_a_page_is_dropped(hub: Hub, fresh: MainWindow, qtbot: QtBot):
    hub.private.clear()
    data = QtCore.QMimeData()
    page = QtCore.QUrl("https://huggingface.co/crew/pirate/tree/main")
    data.setUrls([page, QtCore.QUrl("https://example.org/crew/pirate")])
    drop(fresh, data)
    wait(qtbot, lambda: names(fresh) == ["pirate"])


def test_a_locked_keyring_is_said_where_it_matters(fresh: MainWindow, qtbot: QtBot):
    with using(LockedKeyring()):
        fresh.go(4)
        wait(qtbot, fresh.settings.hub.said.isVisible)
        assert fresh.settings.hub.said.text().startswith("The system's keyring could not be read")
    assert not fresh.notices.isVisible()
