"""A conversation as its transcript shows it: turns, and lines between them where the composition
changed, or where the context of the last answer began."""

from dataclasses import dataclass
from itertools import pairwise

from veneer.chat.conversation import Conversation, Node, Role, Stamp
from veneer.identity import Digest, short
from veneer.runtime.protocol import FinishReason
from veneer_app import text
from veneer_app.reads import Names, Talked

translate = text.translate
_LONGEST = 28


@dataclass(frozen=True)
class Divider:
    """From here on, another composition answers."""

    title: str


@dataclass(frozen=True)
class Forgotten:
    """What is above, `count` messages, was not told to the model any more."""

    count: int


@dataclass(frozen=True)
class Made:
    """The composition that made an answer, and the generation it was active in."""

    composition: Digest
    title: str
    generation: int


@dataclass(frozen=True)
class Turn:
    """One message. `node` is its place in the tree, 0 while it is on its way.

    `cut` says that the composition was changed while it was being answered, `short` that the
    answer ended before its end. `beside` are the nodes in whose stead it is shown, itself among
    them. `open` is a question without an answer.
    """

    role: Role
    text: str
    footer: str = ""
    cut: bool = False
    node: int = 0
    made: tuple[Made, ...] = ()
    beside: tuple[int, ...] = ()
    short: bool = False
    open: bool = False
    files: tuple[str, ...] = ()


Entry = Divider | Forgotten | Turn


@dataclass(frozen=True)
class Filled:
    """How full the context was at the end of the last answer, in tokens. 0 of 0: not known."""

    used: int = 0
    of: int = 0
    left_out: int = 0


def entries(talked: Talked, before: int | None = None) -> tuple[Entry, ...]:
    """Everything the transcript shows, in order; only what comes `before` a node, if given."""
    path, children = talked.conversation.path, talked.conversation.children()
    forgotten, found, last = filled(talked.conversation).left_out, list[Entry](), None
    for number, node in enumerate(path):
        if node.id == before:
            break
        if forgotten and number == forgotten:
            found.append(Forgotten(forgotten))
        stamp = node.message.stamp
        if stamp is not None:
            if last is not None and stamp.composition_id != last:
                # Before the question, which was asked of the new composition too.
                found.insert(_before_question(found), Divider(_title(stamp, talked.titles)))
            last = stamp.composition_id
        found.append(_turn(node, children[node.parent], node is path[-1], talked.titles))
    return tuple(found)


def filled(conversation: Conversation) -> Filled:
    """How full the context is, by what the last answer on the way that is shown noted."""
    stamps = [m.stamp for m in conversation.messages if m.stamp is not None]
    if not stamps or not stamps[-1].n_ctx:
        return Filled()
    last = stamps[-1]
    return Filled(last.prompt_tokens + last.tokens, last.n_ctx, last.left_out)


def step(turn: Turn, by: int) -> int | None:
    """The node that is shown in this one's stead, one further or one back; None at the end."""
    order = dict(pairwise(turn.beside if by > 0 else reversed(turn.beside)))
    return order.get(turn.node)


def _before_question(found: list[Entry]) -> int:
    asked = bool(found) and isinstance(found[-1], Turn) and found[-1].role == "user"
    return len(found) - 1 if asked else len(found)


def _turn(node: Node, beside: tuple[int, ...], last: bool, titles: Names) -> Turn:
    message, stamp = node.message, node.message.stamp
    if stamp is None:
        return Turn(
            message.role,
            message.text,
            node=node.id,
            beside=beside,
            open=last and message.role == "user",
            files=tuple(text.plain(a.name, 60) for a in message.attachments),
        )
    return Turn(
        message.role,
        message.text,
        footer(stamp),
        cut=stamp.finish_reason == "composition_changed",
        node=node.id,
        made=tuple(_made(s, titles) for s in _different((*message.earlier, stamp))),
        beside=beside,
        short=stamp.finish_reason != "stop",
    )


def _different(stamps: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
    """One stamp for each composition, in the order in which they began."""
    return tuple({s.composition_id: s for s in stamps}.values())


def _made(stamp: Stamp, titles: Names) -> Made:
    return Made(stamp.composition_id, _title(stamp, titles), stamp.generation)


def _title(stamp: Stamp, titles: Names) -> str:
    return text.plain(titles.get(stamp.composition_id, stamp.composition_name), 60)


def badge(made: Made) -> str:
    """A composition's name with the beginning of its id, unless that is its name."""
    digits, name = short(made.composition), text.plain(made.title, _LONGEST)
    return name if name == digits else f"{name} · {digits}"


def footer(stamp: Stamp) -> str:
    """How long an answer is, how fast it was, and why it ended."""
    return " · ".join(
        (
            translate("Chat", "{n} tokens").format(n=stamp.tokens),
            speed(stamp),
            translate("Chat", "first after {time}").format(
                time=text.milliseconds(stamp.first_token_ms)
            ),
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
