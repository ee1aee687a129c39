"""The History in states that are seldom met."""

from veneer.activation.journal import Generation, Pair
from veneer_app.reads import Past
from veneer_app.shots import values
from veneer_app.window import MainWindow

_CONFIRMED = (Pair(values.UNSURE.digest, values.SMALL.digest),)
_REFUSED = (
    "INCOMPATIBLE: Made for another model: the adapter targets 28 layers of width 3072, this base "
    "has 32 layers of width 4096."
)
_ALL = ("REQUESTED", "VALIDATED", "STAGED", "COMMITTED")


def full(window: MainWindow) -> None:
    """Every way a generation can end and everybody who can ask for one."""
    _show(window, 8)


def error(window: MainWindow) -> None:
    """One that failed is selected."""
    _show(window, 5)


def long(window: MainWindow) -> None:
    """A name that has no end, which was confirmed."""
    _show(window, 6)


def leave(window: MainWindow) -> None:
    """Show what is there again."""
    window.history.refresh()


def _show(window: MainWindow, number: int) -> None:
    make = values.generation
    generations = (
        make(8, "pirates", *_ALL, restores=2),
        make(7, "plain", "REQUESTED", "VALIDATED", "STAGED", by="api"),
        make(6, values.ENDLESS, *_ALL, confirmed=_CONFIRMED),
        make(5, values.ARABIC, "REQUESTED", "ABORTED", reason=_REFUSED),
        make(4, "plain", "REQUESTED", "ABORTED", reason="CANCELLED: Stopped."),
        make(3, "plain", *_ALL, by="recovery"),
        make(2, "pirates", *_ALL, by="cli"),
        make(1, "plain", *_ALL),
    )
    titles = {6: values.ENDLESS[:80], 5: values.ARABIC, 8: "pirates", 2: "pirates"}
    place = window.history
    place.show_now(tuple(_past(g, titles.get(g.number, "plain")) for g in generations))
    place.view.setCurrentIndex(place.found.index_of(lambda p: p.generation.number == number))


def _past(generation: Generation, title: str) -> Past:
    confirmed = (("no-name", values.SMALL.name),) if generation.confirmed else ()
    parts = ("pirate ×1", "terse ×0.5") if title == "pirates" else ()
    return Past(generation, title, parts, generation.number == 8, confirmed)
