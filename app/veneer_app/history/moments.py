"""The transitions of a generation in words: what, when, how long after the one before."""

from dataclasses import dataclass
from datetime import datetime

from veneer.activation.journal import State
from veneer_app import text
from veneer_app.history.rows import stopped
from veneer_app.reads import Past

translate = text.translate


@dataclass(frozen=True)
class Moment:
    """One transition. `after` is empty for the first; `parts` are the steps that led to it.

    `tone` names a tone of the theme.
    """

    what: str
    at: str
    after: str
    tone: str
    parts: tuple[tuple[str, str], ...] = ()


def moments_of(past: Past) -> tuple[Moment, ...]:
    """Every transition, in the order in which they came."""
    transitions = past.generation.transitions
    before = (None, *(t.at for t in transitions))
    return tuple(
        Moment(
            _words(past, transition.state),
            _clock(transition.at),
            "" if earlier is None else f"+{text.milliseconds(_between(earlier, transition.at))}",
            _tone(past, transition.state),
            _parts(past, transition.state),
        )
        for earlier, transition in zip(before, transitions, strict=False)
    )


def _words(past: Past, state: State) -> str:
    if state == "ABORTED" and stopped(past):
        return translate("History", "Stopped")
    words: dict[State, str] = {
        "REQUESTED": translate("History", "Requested"),
        "VALIDATED": translate("History", "Validated"),
        "STAGED": translate("History", "Staged"),
        "COMMITTED": translate("History", "Committed"),
        "ABORTED": translate("History", "Aborted"),
    }
    return words[state]


def _tone(past: Past, state: State) -> str:
    if state == "ABORTED":
        return "muted" if stopped(past) else "bad"
    return "good" if state == "COMMITTED" else "border_strong"


def _parts(past: Past, state: State) -> tuple[tuple[str, str], ...]:
    """What staging consisted of, as far as it was measured."""
    if state != "STAGED":
        return ()
    words = {
        "stage_base": translate("History", "load the base"),
        "stage_adapters": translate("History", "load the adapters"),
        "stage_probe": translate("History", "probe"),
    }
    took = past.generation.timings_ms
    return tuple((word, text.milliseconds(took[k])) for k, word in words.items() if k in took)


def _clock(iso: str) -> str:
    """The time of day here, with milliseconds."""
    moment = datetime.fromisoformat(iso).astimezone()
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"


def _between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1000
