"""The Library: what the table says, the search, and what an owner changes."""

import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.app.support import drop, mime_of, settled, wait
from veneer_app.library.facts import facts_of
from veneer_app.library.targets import TargetsDialog
from veneer_app.parts import fields
from veneer_app.parts.table import ROW
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.window import MainWindow


def _cells(window: MainWindow, name: str) -> list[str]:
    model = window.library.found
    index = model.index_of(lambda row: row.name == name)
    return [model.index(index.row(), n).data() for n in range(model.columnCount())]


def _facts(window: MainWindow, name: str) -> dict[str, str]:
    row = next(r for r in window.library.table.rows if r.name == name)
    return dict(facts_of(row.stored, row.context))


def _shown(window: MainWindow) -> list[str]:
    found = window.library.found
    return [found.index(n, 0).data(ROW).name for n in range(found.rowCount())]


def _select(window: MainWindow, name: str) -> None:
    index = window.library.found.index_of(lambda row: row.name == name)
    window.library.view.setCurrentIndex(index)


def test_the_table_says_what_there_is(window: MainWindow) -> None:
    model = window.library.table
    titles = [model.headerData(n, Qt.Orientation.Horizontal) for n in range(model.columnCount())]
    assert titles == ["Name", "Kind", "Rank", "Tensors", "Size", "Made for", "Fits"]
    assert _cells(window, "smol") == ["smol", "Base", "", "272", "98.4 MB", "", ""]
    assert _cells(window, "pirate")[:4] == ["pirate", "LoRA", "8", "60"]
    assert _cells(window, "pirate")[6] == "60 of 60"


def test_the_table_keeps_the_rules_of_qt(window: MainWindow, qtmodeltester: object) -> None:
    qtmodeltester.check(window.library.table, force_py=True)
    qtmodeltester.check(window.stacks.parts.stack_model, force_py=True)


def test_searching_leaves_what_was_searched_for(window: MainWindow) -> None:
    window.library.search.setText("PIR")
    assert _shown(window) == ["pirate"]
    window.library.search.setText("lora pirate")
    assert _shown(window) == ["pirate"]
    assert window.library.count.text() == "1 of 4"
    window.library.search.setText("")
    assert window.library.count.text() == "4"


def test_the_verdict_is_in_words(window: MainWindow) -> None:
    window.go(1)
    _select(window, "pirate")
    assert window.library.details.verdict.text() == (
        "Applies 60 of 60 tensors. Made for a model of this name."
    )


def test_a_base_tells_what_it_is_made_of(window: MainWindow, qtbot: QtBot) -> None:
    facts = _facts(window, "smol")
    assert facts["Attention"] == "Q4_1 16.6 MB"
    assert facts["Embeddings"] == "Q8_0 30.1 MB"
    assert facts["Vocabulary"] == "49152, gpt2"
    assert facts["Made by"] == "HuggingFaceTB"
    assert facts["Chat template"].startswith("{% for message in messages %}")
    assert facts["Memory at 4096"].endswith(" MB")
    window.settings.bound["n_ctx"].field.setValue(1024)
    wait(qtbot, lambda: "Memory at 1024" in _facts(window, "smol"))
    settled(qtbot, window)


def test_an_owners_notes_are_kept(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "terse")
    details = window.library.details
    details.notes.strength.setValue(0.6)
    settled(qtbot, window)
    details.name.setText("short answers")
    details.name.editingFinished.emit()
    wait(qtbot, lambda: any(r.name == "short answers" for r in window.library.table.rows))
    settled(qtbot, window)
    row = next(r for r in window.library.table.rows if r.name == "short answers")
    assert row.stored.default_scale == 0.6
    assert window.library.details.name.text() == "short answers"


def test_what_a_stack_needs_is_not_removed(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "json")
    window.library.details.acts.remove.click()
    box = window.library.details.findChild(QtWidgets.QMessageBox)
    assert box.text() == "Remove “json”?"
    assert box.informativeText() == "Needed by: objects. Remove those stacks first."
    next(b for b in box.buttons() if b.text() == "Remove").click()
    wait(qtbot, window.notices.isVisible)
    assert window.notices.code.text() == "IN_USE"
    assert "“objects”" in window.notices.sentence.text()
    assert any(r.name == "json" for r in window.library.table.rows)
    settled(qtbot, window)


def test_tags_and_notes_are_kept_and_searched(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "terse")
    notes = window.library.details.notes
    notes.tags.setText("short, , work")
    notes.tags.editingFinished.emit()
    settled(qtbot, window)
    notes.prompt.setFocus()
    notes.prompt.setPlainText("Answer briefly.")
    notes.license.setText("MIT")
    notes.license.editingFinished.emit()
    settled(qtbot, window)
    row = next(r for r in window.library.table.rows if r.name == "terse")
    assert row.stored.tags == ("short", "work")
    assert (row.stored.license, row.stored.system_prompt) == ("MIT", "Answer briefly.")
    window.library.search.setText("work")
    assert _shown(window) == ["terse"]


def test_filters_by_kind_and_fit(window: MainWindow, qtbot: QtBot, foreign_adapter: Path) -> None:
    drop(window, mime_of([foreign_adapter]))
    wait(qtbot, lambda: len(window.library.table.rows) == 5)
    settled(qtbot, window)
    library = window.library
    kinds = [library.kinds.itemText(n) for n in range(library.kinds.count())]
    assert kinds == ["All kinds", "Base", "LoRA"]
    fields.choose(library.kinds, "lora")
    library.kinds.currentIndexChanged.emit(2)
    assert _shown(window) == ["foreign", "json", "pirate", "terse"]
    library.fits.setCurrentIndex(library.fits.findData("refused"))
    assert _shown(window) == ["foreign"]
    library.fits.setCurrentIndex(library.fits.findData("fits"))
    assert _shown(window) == ["json", "pirate", "terse"]
    library.kinds.setCurrentIndex(1)
    assert _shown(window) == []


def test_an_adapter_tells_its_scale_and_who_uses_it(window: MainWindow, qtbot: QtBot) -> None:
    window.go(1)
    _select(window, "pirate")
    row = next(r for r in window.library.table.rows if r.name == "pirate")
    facts = dict(facts_of(row.stored, row.context, row.users))
    assert facts["Effective scale"] == "2 on 60 of 60"
    assert facts["Used by"] == "both, pirates"
    assert facts["Source"].endswith("adapters/pirate")

    acts = window.library.details.acts
    acts.targets.click()
    dialog = acts.findChild(TargetsDialog)
    first = [dialog.table.index(0, n).data() for n in range(dialog.table.columnCount())]
    assert first == ["model.layers.0.self_attn.q_proj", "low-rank products", "8", "576 × 576", "2"]
    assert dialog.table.rowCount() == 60
    dialog.accept()
    settled(qtbot, window)


def test_an_adapter_goes_onto_the_stack(window: MainWindow, qtbot: QtBot) -> None:
    window.stacks.open_stack("plain")
    window.go(1)
    _select(window, "json")
    window.library.details.acts.stack.click()
    assert window.places.currentWidget() is window.stacks
    assert [la.scale for la in window.stacks.editor.draft.layers] == [1.0]
    settled(qtbot, window)


def test_its_place_is_shown(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, base_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        QtGui.QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile())
    )
    window.go(1)
    _select(window, "smol")
    window.library.details.acts.reveal.click()
    wait(qtbot, lambda: opened)
    assert opened == [str(base_path.parent)]
    settled(qtbot, window)


def test_verifying_again_tells_what_is_sound_and_what_is_not(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.go(1)
    _select(window, "pirate")
    acts = window.library.details.acts
    acts.verify.click()
    wait(qtbot, window.notices.isVisible)
    assert window.notices.sentence.text() == "“pirate” is on disk as it was imported."
    row = next(r for r in window.library.table.rows if r.name == "pirate")
    digest = row.stored.files["adapter_model.safetensors"].removeprefix("sha256:")
    (file,) = (window.operations._workspace.root / "objects").rglob(digest)
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    acts.verify.click()
    wait(qtbot, lambda: window.notices.code.text() == "DAMAGED")
    assert acts.verify.text() == "Verify again"
    settled(qtbot, window)


def _held(kind: type, where: QtWidgets.QWidget, data: QtCore.QMimeData) -> QtGui.QDropEvent:
    place = where.rect().center() if where.parent() is None else where.geometry().center()
    point = QtCore.QPointF(place) if kind is QtGui.QDropEvent else place
    left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    return kind(point, Qt.DropAction.CopyAction, data, left, plain)


def test_an_adapter_is_dragged_from_the_library_onto_the_stack(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.go(1)
    model = window.library.found
    adapter, base = (model.index_of(lambda r, n=n: r.name == n) for n in ("terse", "smol"))
    assert model.flags(adapter) & Qt.ItemFlag.ItemIsDragEnabled
    assert not model.flags(base) & Qt.ItemFlag.ItemIsDragEnabled

    data, rail = model.mimeData([adapter]), window.rail
    stacks = next(b for b in rail.findChildren(QtWidgets.QToolButton) if b.text() == "Stacks")
    enter, over = (_held(k, stacks, data) for k in (QtGui.QDragEnterEvent, QtGui.QDragMoveEvent))
    QtWidgets.QApplication.sendEvent(rail, enter)
    QtWidgets.QApplication.sendEvent(rail, over)
    assert over.isAccepted()
    assert window.places.currentWidget() is window.library
    wait(qtbot, lambda: window.places.currentWidget() is window.stacks)

    window.stacks.open_stack("plain")
    QtWidgets.QApplication.sendEvent(rail, _held(QtGui.QDropEvent, stacks, data))
    assert [card.name.text() for card in window.stacks.parts.pile.cards.values()] == ["terse"]


def test_a_file_that_is_dragged_over_the_rail_stays_the_windows(
    window: MainWindow, tmp_path: Path
) -> None:
    data = mime_of([tmp_path / "x.gguf"])
    event = _held(QtGui.QDragEnterEvent, window.rail, data)
    QtWidgets.QApplication.sendEvent(window.rail, event)
    assert event.isAccepted()
    assert window.overlay.isVisible()


def test_enter_adds_an_adapter_to_the_stack_and_leaves_a_base(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.go(1)
    window.stacks.open_stack("plain")
    _select(window, "smol")
    window.library.view.setFocus()
    qtbot.keyClick(window.library.view, Qt.Key.Key_Return)
    assert window.places.currentWidget() is window.library
    _select(window, "pirate")
    qtbot.keyClick(window.library.view, Qt.Key.Key_Return)
    assert window.places.currentWidget() is window.stacks
    assert [card.name.text() for card in window.stacks.parts.pile.cards.values()] == ["pirate"]


def test_another_chat_template_is_remarked_on(
    fresh: MainWindow, qtbot: QtBot, tmp_path: Path, base_path: Path, adapter_paths: dict[str, Path]
) -> None:
    folder = tmp_path / "trained"
    shutil.copytree(adapter_paths["pirate"], folder)
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    drop(fresh, mime_of([base_path, folder]))
    wait(qtbot, lambda: len(fresh.library.table.rows) == 2)
    fresh.go(1)
    _select(fresh, "trained")
    remark = "another chat template than this base has."
    wait(qtbot, lambda: remark in fresh.library.details.verdict.text())
    assert _facts(fresh, "trained")["Chat template"] == "{{ messages }}"
