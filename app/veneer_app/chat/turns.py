"""A conversation as its transcript shows it: turns, and dividers where the composition changed."""

from dataclasses import dataclass

from veneer.chat.conversation import Role, Stamp
from veneer.runtime.protocol import FinishReason
from veneer_app import text
from veneer_app.reads import Names, Talked

translate = text.translate


@dataclass(frozen=True)
class Divider:
    """From here on, another composition answers."""

    title: str


@dataclass(frozen=True)
class Turn:
    """One message. `cut` says that the composition was changed while it was being answered."""

    role: Role
    text: str
    footer: str = ""
    cut: bool = False


Entry = Divider | Turn


def entries(talked: Talked) -> tuple[Entry, ...]:
    """Everything the transcript shows, in order."""
    found: list[Entry] = []
    last = None
    for message in talked.conversation.messages:
        stamp = message.stamp
        if stamp is not None:
            if last is not None and stamp.composition_id != last:
                # Before the question, which was asked of the new composition too.
                found.insert(_before_question(found), Divider(_title(stamp, talked.titles)))
            last = stamp.composition_id
        found.append(_turn(message.role, message.text, stamp, talked.titles))
    return tuple(found)


def _before_question(found: list[Entry]) -> int:
    asked = bool(found) and isinstance(found[-1], Turn) and found[-1].role == "user"
    return len(found) - 1 if asked else len(found)


def _turn(role: Role, said: str, stamp: Stamp | None, titles: Names) -> Turn:
    if stamp is None:
        return Turn(role, said)
    return Turn(role, said, _footer(stamp, titles), stamp.finish_reason == "composition_changed")


def _title(stamp: Stamp, titles: Names) -> str:
    return text.plain(titles.get(stamp.composition_id, stamp.composition_name), 60)


def _footer(stamp: Stamp, titles: Names) -> str:
    return " · ".join(
        (
            _title(stamp, titles),
            translate("Chat", "{n} tokens").format(n=stamp.tokens),
            speed(stamp),
            finish(stamp.finish_reason),
        )
    )


def speed(stamp: Stamp) -> str:
    """How fast it was."""
    return translate("Chat", "{n} tok/s").format(n=f"{stamp.tokens_per_second:.1f}")


def finish(reason: FinishReason) -> str:
    """Why an answer ended."""
    return {
        "stop": translate("Chat", "complete"),
        "length": translate("Chat", "cut at the token limit"),
        "cancelled": translate("Chat", "stopped"),
        "composition_changed": translate("Chat", "the composition was changed"),
    }[reason]
