"""Signatures and the keys that are trusted, where a person sees them."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import settled, wait
from tests.engine.keyrings import MemoryKeyring, using
from veneer import Workspace
from veneer_app.parts.controls import Elided
from veneer_app.qt import Qt, QtWidgets
from veneer_app.window import MainWindow

OTHER = "ed25519:" + "ab" * 32


def _keys(window: MainWindow) -> list[str]:
    return [line.text() for line in window.settings.trusted.findChildren(Elided)]


def test_a_stack_says_whose_signature_it_has(root: Path, open_window: Open) -> None:
    with using(MemoryKeyring()), Workspace.open(root) as workspace:
        signed = workspace.sign("pirates").value.manifest.envelope.signature
        assert signed is not None
    window = open_window(root)
    window.go(2)
    stacks = window.stacks
    stacks.open_stack("pirates")
    assert stacks.parts.signed.text() == (
        f"Signed by my own key, whose key is trusted: {signed.key}"
    )
    assert stacks.parts.signed.property("role") == "good"
    stacks.open_stack("plain")
    assert not stacks.parts.signed.isVisible()


def test_a_signature_that_nobody_trusts_says_so(root: Path, open_window: Open) -> None:
    with using(MemoryKeyring()), Workspace.open(root) as workspace:
        workspace.sign("pirates")
        (known,) = workspace.signatures.trusted.all()
        workspace.signatures.trusted.remove(known.key)
    stacks = open_window(root).stacks
    stacks.open_stack("pirates")
    assert stacks.parts.signed.text() == f"Signed by {known.key}, which nobody here trusts."


def test_keys_are_trusted_and_trusted_no_more(window: MainWindow, qtbot: QtBot) -> None:
    window.go(4)
    trusted = window.settings.trusted
    trusted.key.setText(OTHER)
    trusted.name.setText("Ann")
    qtbot.keyClick(trusted.name, Qt.Key.Key_Return)
    wait(qtbot, lambda: _keys(window) == [f"Ann  {OTHER}"])
    assert trusted.key.text() == ""
    away = trusted.findChildren(QtWidgets.QToolButton)[0]
    assert away.accessibleName() == "Trust the key of Ann no more"
    away.click()
    wait(qtbot, trusted.none.isVisible)
    settled(qtbot, window)


def test_what_is_no_key_is_refused_and_stays_to_be_mended(window: MainWindow, qtbot: QtBot) -> None:
    trusted = window.settings.trusted
    trusted.key.setText("abc")
    trusted.add.click()
    wait(qtbot, window.notices.isVisible)
    assert "“abc” is no public key." in window.notices.sentence.text()
    assert trusted.key.text() == "abc"
    assert _keys(window) == []
