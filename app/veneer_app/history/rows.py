"""Generations as rows of a table, in words."""

from veneer.activation.journal import Requester, State
from veneer.errors import Cancelled
from veneer_app import text
from veneer_app.parts.table import Column
from veneer_app.reads import Past

translate = text.translate


def state_of(past: Past) -> str:
    """Its state in words; the active one stands out."""
    if past.active:
        return translate("History", "Active")
    if stopped(past):
        return translate("History", "Stopped")
    words: dict[State, str] = {
        "REQUESTED": translate("History", "Requested"),
        "VALIDATED": translate("History", "Validated"),
        "STAGED": translate("History", "Staged"),
        "COMMITTED": translate("History", "Was active"),
        "ABORTED": translate("History", "Failed"),
    }
    return words[past.generation.state]


def stopped(past: Past) -> bool:
    """Whether a person stopped it, which is no failure."""
    return (past.generation.reason or "").startswith(Cancelled.code)


def who(by: Requester) -> str:
    """Who asked for it."""
    return {
        "window": translate("History", "Window"),
        "cli": translate("History", "Command line"),
        "api": translate("History", "Another program"),
        "recovery": translate("History", "Recovery"),
    }[by]


def requested_at(past: Past) -> str:
    """When it was asked for (ISO 8601)."""
    transitions = past.generation.transitions
    return transitions[0].at if transitions else ""


def took(past: Past) -> float:
    """Milliseconds from beginning to end, of the steps that were measured."""
    timings = past.generation.timings_ms
    return sum(timings.get(step, 0.0) for step in ("validate", "stage", "publish"))


def took_words(past: Past) -> str:
    """The same in words; nothing if it never came to be."""
    return text.milliseconds(took(past)) if past.generation.timings_ms else ""


def failed(past: Past) -> bool:
    """Whether it did not come to be, and nobody wanted that."""
    return past.generation.state == "ABORTED" and not stopped(past)


def tone_of(past: Past) -> str:
    """The tone of the theme in which its state is shown."""
    if past.active:
        return "good"
    return "bad" if failed(past) else "muted"


def _title(past: Past) -> str:
    """Its composition, and which generation was returned to."""
    back = past.generation.restores
    words = translate("History", "{title}, back to {n}")
    return past.title if back is None else words.format(title=past.title, n=back)


def _muted(past: Past) -> str:
    return "muted"


def columns() -> tuple[Column, ...]:
    """The columns of the table."""
    return (
        Column("№", lambda p: str(p.generation.number), right=True),
        Column(translate("History", "Composition"), _title),
        Column(
            translate("History", "Asked by"), lambda p: who(p.generation.requested_by), tone=_muted
        ),
        Column(translate("History", "State"), state_of, tone=tone_of),
        Column(translate("History", "When"), lambda p: text.when(requested_at(p)), tone=_muted),
        Column(translate("History", "Took"), took_words, tone=_muted, right=True),
    )
