"""The Library in states that are seldom met."""

from pathlib import Path

from veneer_app.imports.queue import ImportItem
from veneer_app.library.rows import rows
from veneer_app.qt import QtWidgets
from veneer_app.reads import LibraryNow
from veneer_app.shots import values
from veneer_app.window import MainWindow

_HALF, _WHOLE, _RATE = 2_460_000_000, 4_920_000_000, 410_000_000.0
_ITEMS = (
    ImportItem(-1, Path("Llama-3.1-8B.gguf"), "running", _HALF, _WHOLE, _RATE),
    ImportItem(-2, Path("pirate"), "waiting"),
    ImportItem(
        -3,
        Path(values.ENDLESS.strip()),
        "failed",
        sentence="This is no adapter: the folder has weights, but no adapter_config.json that "
        "says what they are. Export it again, or import the file alone.",
        code="FORMAT.CONFIG_MISSING",
    ),
)


def full(window: MainWindow) -> None:
    """Every kind and verdict; one that fits is selected."""
    _show(window, "pirate")


def refused(window: MainWindow) -> None:
    """One that was made for another model."""
    _show(window, values.FOREIGN.name)


def long(window: MainWindow) -> None:
    """Names that have no end, or are read from the right."""
    _show(window, values.ENDLESS)


def busy(window: MainWindow) -> None:
    """Files on their way in, and one that is none."""
    _show(window, "pirate")
    for item in _ITEMS:
        window.services.imports.updated.emit(item)


def drop(window: MainWindow) -> None:
    """Files are held over the window."""
    window.overlay.cover()


def targets(window: MainWindow) -> QtWidgets.QWidget:
    """The table of what an adapter changes."""
    _show(window, "pirate")
    window.library.details.acts.targets.click()
    return window.library.details.acts.findChildren(QtWidgets.QDialog)[-1]


def leave(window: MainWindow) -> None:
    """Show what is there again."""
    window.overlay.hide()
    for item in _ITEMS:
        if item.number in window.tray.rows:
            window.services.imports.removed.emit(item.number)
    window.library.refresh()


def _show(window: MainWindow, name: str) -> None:
    users = {values.PIRATE.digest: ("pirates", "matey contracts")}
    now = LibraryNow(
        bases=(values.SMALL,),
        adapters=values.ADAPTERS,
        chosen=values.SMALL.digest,
        users=users,
    )
    place = window.library
    place.show_now(now, rows(now, values.REPORTS))
    place.view.setCurrentIndex(place.found.index_of(lambda row: row.stored.name == name))
