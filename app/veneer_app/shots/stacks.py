"""The Stacks in states that are seldom met."""

from veneer.activation.admission import Estimate
from veneer.activation.running import Room
from veneer.errors import Incompatible, RuntimeTimeout, VeneerError
from veneer_app.reads import Active, StacksNow
from veneer_app.shots import values
from veneer_app.stacks.draft import Draft, Layer
from veneer_app.switch import SwitchState
from veneer_app.window import MainWindow

_NEEDED = Estimate(
    base=4_920_000_000,
    kv=537_000_000,
    compute=260_000_000,
    adapters=151_000_000,
    scratch=110_000_000,
)
_ENOUGH, _TOO_LITTLE = 8_000_000_000, 4_000_000_000
_TOOK = {"VALIDATED": 41.0, "STAGED": 812.0}


def full(window: MainWindow) -> None:
    """A blend of three, one switched off, with edits that are not saved."""
    layers = (
        Layer(values.PIRATE.digest, 0.8),
        Layer(values.LEGAL.digest, 1.0, on=False),
        Layer(values.TERSE.digest, -0.5),
        Layer(values.UNSURE.digest, 1.75),
    )
    _show(window, "matey contracts", Draft("matey contracts", values.SMALL.digest, layers))
    window.stacks.editor.set_blend(1.0)


def long(window: MainWindow) -> None:
    """Names that have no end, or are read from the right; a strength off the slider."""
    _show(window, values.STACKS[3].name or "")


def refused(window: MainWindow) -> None:
    """An adapter of another model, said on its card, and more memory than there is."""
    _show(window, values.ARABIC, limit=_TOO_LITTLE)


def busy(window: MainWindow) -> None:
    """An activation under way."""
    _show(window, "pirates")
    window.services.switch.stated.emit(SwitchState("running", "pirates", {"VALIDATED": 41.0}))


def done(window: MainWindow) -> None:
    """An activation that has ended well."""
    _show(window, "pirates")
    took = {**_TOOK, "COMMITTED": 2.0}
    window.services.switch.stated.emit(SwitchState("done", "pirates", took))


def error(window: MainWindow) -> None:
    """An activation that failed for a reason of no adapter's own."""
    _show(window, "matey contracts")
    _fail(window, RuntimeTimeout("The runtime did not answer for 60 seconds while it was staging."))


def blame(window: MainWindow) -> None:
    """One that failed because of an adapter."""
    _show(window, "matey contracts")
    said = "It changes nothing: its products are all zeros."
    _fail(window, Incompatible(said, digest=values.PIRATE.digest))


def leave(window: MainWindow) -> None:
    """Show what is there again."""
    window.stacks.editor.forget(window.stacks.editor.key)
    window.services.switch.stated.emit(SwitchState())
    window.stacks.refresh()


def _fail(window: MainWindow, why: VeneerError) -> None:
    state = SwitchState("failed", "matey contracts", {"VALIDATED": 41.0}, error=why)
    window.services.switch.stated.emit(state)


def _show(window: MainWindow, name: str, draft: Draft | None = None, limit: int = _ENOUGH) -> None:
    place, running = window.stacks, values.STACKS[1]
    known = {a.digest: a.name for a in values.ADAPTERS}
    now = StacksNow(
        saved=values.STACKS,
        bases=(values.SMALL,),
        adapters=values.ADAPTERS,
        active=Active(4, running, "pirates", can_roll_back=True),
        names={**known, values.SMALL.digest: values.SMALL.name},
        pins={1: "plain", 2: "pirates"},
    )
    place.show_now(now)
    place.open_stack(name)
    if draft is not None:
        for layer in draft.layers:
            place.editor.add(layer.adapter, layer.scale)
            place.editor.set_on(layer.adapter, layer.on)
    window.services.verdicts.learn(values.SMALL.digest, values.REPORTS)
    place.parts.memory.show_room(Room(_NEEDED, limit))
