"""The stack editor: drafts as values, refusals on their cards, what was saved."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.app.support import drop, mime_of, settled, wait
from veneer.identity import Digest
from veneer_app.stacks import draft as drafts
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
    stacks.save()
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
