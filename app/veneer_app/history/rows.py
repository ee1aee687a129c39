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


def _tone(past: Past) -> str:
    if past.active:
        return "good"
    failed = past.generation.state == "ABORTED" and not stopped(past)
    return "bad" if failed else "muted"


def columns() -> tuple[Column, ...]:
    """The columns of the table."""
    return (
        Column("№", lambda p: str(p.generation.number), lambda p: p.generation.number),
        Column(translate("History", "Composition"), lambda p: p.title),
        Column(translate("History", "State"), state_of, tone=_tone),
        Column(
            translate("History", "When"),
            lambda p: text.when(requested_at(p)),
            requested_at,
            lambda p: "muted",
        ),
        Column(translate("History", "Took"), took_words, took, lambda p: "muted", right=True),
    )
