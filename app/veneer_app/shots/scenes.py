"""Every picture that is taken, under its name: which place, and what is done before and after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from veneer_app.qt import QtWidgets
from veneer_app.shots import chat, history, library, settings, stacks
from veneer_app.window import PLACES, MainWindow


@dataclass(frozen=True)
class Scene:
    """`arrange` gives the window that is to be seen where another opens over the main one."""

    place: str
    state: str = ""
    arrange: Callable[[MainWindow], QtWidgets.QWidget | None] = lambda window: None
    leave: Callable[[MainWindow], None] = lambda window: None

    @property
    def name(self) -> str:
        """What a picture of it is called."""
        return f"{self.place}-{self.state}" if self.state else self.place


_STATES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "chat": (chat, ("full", "busy", "error", "long", "compare")),
    "library": (library, ("full", "refused", "long", "busy", "drop", "targets")),
    "stacks": (stacks, ("full", "long", "refused", "busy", "done", "error", "blame")),
    "history": (history, ("full", "long", "error")),
    "settings": (settings, ("full", "crash", "about", "bug", "unsure")),
}


def of_workspace() -> tuple[Scene, ...]:
    """The places as they are, each followed by its states."""
    return tuple(scene for place in PLACES for scene in _of_place(place))


def of_nothing() -> tuple[Scene, ...]:
    """The places of a workspace that has nothing in it."""
    return tuple(Scene(place, "empty") for place in PLACES)


def _of_place(place: str) -> tuple[Scene, ...]:
    room, states = _STATES[place]
    return (Scene(place), *(Scene(place, s, getattr(room, s), room.leave) for s in states))
