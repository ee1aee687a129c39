"""The stack editor: drafts as values, refusals on their cards, what was saved."""

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.conftest import Open
from tests.app.support import drop, mime_of, settled, wait
from veneer import Workspace
from veneer.identity import Digest
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.stacks import draft as drafts
from veneer_app.stacks.cards import LayerCard
from veneer_app.stacks.draft import Draft, Layer, difference
from veneer_app.window import MainWindow

A, B, C = Digest("sha256:a"), Digest("sha256:b"), Digest("sha256:c")
BASE = Digest("sha256:0")
NAMES = {A: "pirate", B: "terse", C: "json"}


def test_a_layer_that_is_off_is_no_part_of_the_composition() -> None:
    draft = Draft("x", BASE, (Layer(A), Layer(B, 0.5)))
    assert drafts.with_on(draft, A, on=False).parts == ((B, 0.5),)


def test_a_layer_moves_between_the_others() -> None:
    draft = Draft("x", BASE, (Layer(A), Layer(B), Layer(C)))
    assert [la.adapter for la in drafts.moved(draft, A, 2).layers] == [B, A, C]
    assert [la.adapter for la in drafts.moved(draft, C, 0).layers] == [C, A, B]


def test_a_strength_is_kept_within_its_limits() -> None:
    draft = drafts.with_scale(Draft("x", BASE, (Layer(A),)), A, 1000)
    assert draft.parts == ((A, 100.0),)


def test_the_difference_is_said_in_one_line() -> None:
    active = Draft("", BASE, (Layer(A), Layer(B, 0.5)))
    other = Draft("", BASE, (Layer(B, 1.0), Layer(C, 0.25)))
    assert difference(active, active, NAMES) == "This is what is active."
    said = difference(other, active, NAMES)
    assert said == "Against the active one: + json 0.25, − pirate, terse 0.5 → 1.0"
    turned = Draft("", BASE, (Layer(B, 0.5), Layer(A)))
    assert difference(turned, active, NAMES) == "Against the active one: another order."


def test_a_saved_stack_opens_top_layer_first_and_edits_can_be_undone(
    window: MainWindow, qtbot: QtBot
) -> None:
    stacks = window.stacks
    stacks.open_stack("both")
    assert [scale for _, scale in stacks.editor.draft.parts] == [1.0, 0.5]
    terse, pirate = stacks.editor.draft.layers[1].adapter, stacks.editor.draft.layers[0].adapter
    window.go(2)
    cards = stacks.parts.pile.cards
    wait(qtbot, lambda: cards[terse].y() < cards[pirate].y())
    cards[pirate].up.click()
    assert [la.adapter for la in stacks.editor.draft.layers] == [terse, pirate]
    cards[pirate].gone.click()
    assert [la.adapter for la in stacks.editor.draft.layers] == [terse]
    stacks.editor.undo.undo()
    stacks.editor.undo.undo()
    assert [la.adapter for la in stacks.editor.draft.layers] == [pirate, terse]


def test_saving_keeps_the_edit(window: MainWindow, qtbot: QtBot) -> None:
    stacks = window.stacks
    stacks.open_stack("pirates")
    (layer,) = stacks.editor.draft.layers
    stacks.editor.set_scale(layer.adapter, 0.75)
    assert stacks.editor.dirty
    stacks.shelf.save()
    wait(qtbot, lambda: not stacks.editor.dirty)
    settled(qtbot, window)
    subtitles = {line.title: line.subtitle for line in stacks.parts.stack_model.lines}
    assert subtitles["pirates"] == "pirate 0.75"


def test_a_refused_adapter_says_so_on_its_card(
    window: MainWindow, qtbot: QtBot, foreign_adapter: Path
) -> None:
    drop(window, mime_of([foreign_adapter]))
    wait(qtbot, lambda: any(r.name == "foreign" for r in window.library.table.rows))
    settled(qtbot, window)
    row = next(r for r in window.library.table.rows if r.name == "foreign")
    stacks = window.stacks
    window.go(2)
    stacks.new_stack()
    stacks.editor.add(row.digest, 1.0)
    settled(qtbot, window)
    card = stacks.parts.pile.cards[row.digest]
    wait(qtbot, card.problem.isVisible)
    assert card.problem.text().startswith("Refused (applies 0 of 1 tensors). Made for another")
    assert card.property("role") == "card-bad"

    stacks.activate()
    wait(qtbot, lambda: window.services.switch.state.status == "failed")
    settled(qtbot, window)
    assert window.topbar.dot.light == "failed"
    (past,) = window.history.table.rows
    assert past.generation.state == "ABORTED"
    assert not past.active


def test_a_solo_leaves_the_others_as_they_are() -> None:
    draft = Draft("x", BASE, (Layer(A), Layer(B, 0.5), Layer(C, 0.25, on=False)))
    alone = drafts.with_solo(draft, C)
    assert alone.parts == ((C, 0.25),)
    assert drafts.with_solo(alone, C).parts == ((A, 1.0), (B, 0.5), (C, 0.25))
    assert drafts.with_solo(drafts.with_solo(draft, B), B) == draft
    assert drafts.without(drafts.with_solo(draft, B), B).parts == ((A, 1.0),)


def test_a_blend_shares_its_budget_by_the_strengths() -> None:
    draft = Draft("x", BASE, (Layer(A, 1.5), Layer(B, -0.5)), blend=1.0)
    assert draft.parts == ((A, 0.75), (B, -0.25))
    assert drafts.with_blend(draft, 2.0).parts == ((A, 1.5), (B, -0.5))
    assert drafts.with_blend(draft, None).parts == ((A, 1.5), (B, -0.5))
    assert Draft("x", BASE, (Layer(A, 0.0),), blend=1.0).parts == ((A, 0.0),)


def _cards(window: MainWindow) -> dict[str, LayerCard]:
    return {card.name.text(): card for card in window.stacks.parts.pile.cards.values()}


def test_each_edit_is_undone_and_done_again(window: MainWindow, qtbot: QtBot) -> None:
    stacks = window.stacks
    window.go(2)
    stacks.open_stack("both")
    editor, parts, states = stacks.editor, stacks.parts, [stacks.editor.draft]
    cards = _cards(window)

    def edited(act: Callable[[], object]) -> None:
        act()
        assert editor.draft != states[-1]
        states.append(editor.draft)

    edited(cards["pirate"].solo.click)
    edited(cards["pirate"].solo.click)
    edited(cards["terse"].on.click)
    edited(lambda: cards["terse"].strength.field.setValue(0.9))
    edited(lambda: parts.combine.setCurrentIndex(1))
    edited(lambda: parts.budget.setValue(0.5))
    edited(cards["pirate"].up.click)
    edited(cards["terse"].gone.click)
    qtbot.keyClicks(parts.name, "!!")
    states.append(editor.draft)
    for state in reversed(states[:-1]):
        assert parts.undo.isEnabled()
        parts.undo.click()
        assert editor.draft == state
    assert not parts.undo.isEnabled()
    for state in states[1:]:
        parts.redo.click()
        assert editor.draft == state
    assert not parts.redo.isEnabled()
    settled(qtbot, window)


def test_edits_are_still_there_after_a_look_at_another_stack(window: MainWindow) -> None:
    stacks = window.stacks
    stacks.open_stack("both")
    stacks.editor.set_scale(stacks.editor.draft.layers[0].adapter, 0.1)
    stacks.open_stack("pirates")
    assert not stacks.parts.undo.isEnabled()
    stacks.open_stack("both")
    assert stacks.editor.draft.parts[0][1] == 0.1
    stacks.parts.undo.click()
    assert stacks.editor.draft.parts[0][1] == 1.0


def test_a_blend_shows_the_strengths_that_will_be_used(window: MainWindow, qtbot: QtBot) -> None:
    stacks = window.stacks
    window.go(2)
    stacks.open_stack("both")
    stacks.parts.combine.setCurrentIndex(1)
    used = {name: card.used.text() for name, card in _cards(window).items()}
    assert used == {"pirate": "→ 0.67", "terse": "→ 0.33"}
    stacks.shelf.save()
    wait(qtbot, lambda: not stacks.editor.dirty)
    settled(qtbot, window)
    subtitles = {line.title: line.subtitle for line in stacks.parts.stack_model.lines}
    assert subtitles["both"] == "pirate 0.67, terse 0.33"


def test_a_card_tells_its_kind_and_size_and_goes_back_to_its_default(
    window: MainWindow, qtbot: QtBot
) -> None:
    stacks = window.stacks
    stacks.open_stack("both")
    terse = _cards(window)["terse"]
    assert (terse.kind.text(), terse.bytes.text()) == ("LoRA", "938 KB")
    assert terse.reset.isEnabled()
    terse.reset.click()
    assert terse.strength.field.value() == 1.0
    assert not terse.reset.isEnabled()
    window.operations.do(lambda ws: ws.library.update_adapter(terse.adapter, default_scale=0.7))
    wait(qtbot, lambda: "0.7" in terse.reset.accessibleName())
    terse.reset.click()
    assert terse.strength.field.value() == 0.7
    settled(qtbot, window)


def test_the_memory_is_told_against_the_budget(window: MainWindow, qtbot: QtBot) -> None:
    window.go(2)
    stacks, memory = window.stacks, window.stacks.parts.memory
    stacks.open_stack("plain")
    wait(qtbot, lambda: memory.said.text().startswith("Needs 289 MB of "))
    assert "adapters" not in memory.said.text()
    stacks.open_stack("both")
    wait(qtbot, lambda: "adapters 3.7 MB" in memory.said.text())
    window.settings.bound["memory_budget"].field.setValue(200)
    wait(qtbot, lambda: memory.said.text().startswith("Needs 293 MB of memory, but only 200 MB"))
    assert memory.said.property("role") == "bad"
    settled(qtbot, window)


def test_a_stack_is_duplicated_renamed_and_removed(window: MainWindow, qtbot: QtBot) -> None:
    window.go(2)
    stacks = window.stacks
    stacks.open_stack("both")
    stacks.parts.menu.duplicate.trigger()
    assert (stacks.editor.key, stacks.editor.draft.name) == ("", "both-2")
    assert [scale for _, scale in stacks.editor.draft.parts] == [1.0, 0.5]
    stacks.shelf.save()
    wait(qtbot, lambda: stacks.editor.key == "both-2")
    settled(qtbot, window)

    index = stacks.parts.stack_model.index_of("both-2")
    stacks.parts.stack_model.setData(index, "third")
    wait(qtbot, lambda: stacks.editor.key == "third")
    settled(qtbot, window)
    assert not stacks.editor.dirty
    qtbot.keyClicks(stacks.parts.name, " one")
    stacks.shelf.save()
    wait(qtbot, lambda: stacks.editor.key == "third one")
    settled(qtbot, window)
    names = [line.title for line in stacks.parts.stack_model.lines]
    assert names == ["both", "objects", "pirates", "plain", "third one"]

    stacks.parts.menu.remove.trigger()
    _answer(stacks, "Remove")
    wait(qtbot, lambda: stacks.editor.key == "both")
    settled(qtbot, window)
    assert "third one" not in [line.title for line in stacks.parts.stack_model.lines]


def test_another_stack_of_the_name_is_replaced_only_if_told_so(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.go(2)
    stacks = window.stacks
    stacks.open_stack("both")
    stacks.parts.menu.duplicate.trigger()
    stacks.editor.rename("plain")
    stacks.shelf.save()
    box = stacks.findChild(QtWidgets.QMessageBox)
    assert box.text() == "Replace the stack “plain”?"
    box.reject()
    settled(qtbot, window)
    assert {c.name: len(c.manifest.composition.adapters) for c in stacks.shelf.now.saved}[
        "plain"
    ] == 0
    stacks.shelf.save()
    _answer(stacks, "Replace")
    wait(qtbot, lambda: stacks.editor.key == "plain")
    settled(qtbot, window)
    assert stacks.shelf.now.stack("plain").manifest.composition.adapters[1].scale == 0.5


def _answer(parent: QtWidgets.QWidget, verb: str) -> None:
    box = parent.findChildren(QtWidgets.QMessageBox)[-1]
    next(b for b in box.buttons() if b.text() == verb).click()


def test_an_adapter_is_dropped_where_it_is_let_go(window: MainWindow, qtbot: QtBot) -> None:
    window.go(2)
    stacks, pile = window.stacks, window.stacks.parts.pile
    stacks.open_stack("both")
    settled(qtbot, window)
    wait(qtbot, lambda: _cards(window)["pirate"].y() > 0)
    listed = {line.title: line.key for line in stacks.parts.adapter_model.lines}
    index = stacks.parts.adapter_model.index_of(listed["json"])
    data = stacks.parts.adapter_model.mimeData([index])
    between = _cards(window)["pirate"].geometry().top() - 2
    at = QtCore.QPoint(200, between)
    for kind in (QtGui.QDragEnterEvent, QtGui.QDragMoveEvent, QtGui.QDropEvent):
        event = kind(
            at,
            Qt.DropAction.MoveAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QtWidgets.QApplication.sendEvent(pile, event)
        assert event.isAccepted()
    assert [la.adapter for la in stacks.editor.draft.layers] == [
        listed[name] for name in ("pirate", "json", "terse")
    ]
    settled(qtbot, window)


def test_a_stack_that_cannot_be_read_is_listed_and_says_why(
    root: Path, open_window: Open, qtbot: QtBot
) -> None:
    with Workspace.open(root) as workspace:
        broken = workspace.stacks.find("objects").id
    (root / "manifests" / f"{broken.removeprefix('sha256:')}.toml").unlink()
    window = open_window(root)
    parts = window.stacks.parts
    line = next(line for line in parts.stack_model.lines if line.title == "objects")
    assert line.subtitle == "Cannot be read"
    parts.stacks.activated.emit(parts.stack_model.index_of(line.key))
    box = window.findChild(QtWidgets.QMessageBox)
    assert box.text() == "The stack “objects” cannot be read"
    assert "is missing" in box.informativeText()
    next(b for b in box.buttons() if b.text() == "Remove").click()
    wait(qtbot, lambda: "objects" not in [each.title for each in parts.stack_model.lines])
    settled(qtbot, window)
