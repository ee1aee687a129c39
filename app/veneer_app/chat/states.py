"""The chat in states that are seldom met, for pictures: nothing of it is kept or asked."""

from collections.abc import Callable

from veneer.chat.comparisons import Comparison, Kept, Side
from veneer.chat.conversation import Attachment, Conversation, Message, Node, Stamp
from veneer.chat.setup import Setup
from veneer.errors import RuntimeCrashed
from veneer.identity import Digest, sha256_bytes
from veneer.runtime.protocol import FinishReason, Sampling
from veneer_app import text
from veneer_app.chat.place import ChatPlace
from veneer_app.chat.session import Ask, Asking
from veneer_app.reads import Talked

_WHEN = "2026-01-02T03:04:05.000+00:00"
_NUMBER = 1
_CODE = """Sure. Sort by the second field, *descending*:

```python
def by_size(rows: list[tuple[str, int]]) -> list[tuple[str, int]]:
    \"\"\"Largest first.\"\"\"
    return sorted(rows, key=lambda row: row[1], reverse=True)  # stable for equal sizes
```

1. `sorted` makes a new list.
2. `key` says what to look at.

| name | size |
|---|---|
| pear | 3 |
| fig | 1 |

> Nothing is loaded: ![a picture](https://example.org/p.png) <b>and no HTML</b>."""
_LONG = (
    "Pneumonoultramicroscopicsilicovolcanoconiosis_and_other_words_that_never_end_so_that_nothing_"
    "can_be_broken_where_a_line_would_like_to_end " * 3
)


def states() -> dict[str, Callable[[ChatPlace], None]]:
    """Puts the chat into each state, by what a picture of it is called."""
    return {"full": _full, "busy": _busy, "error": _error, "long": _long, "compare": _compare}


def leave(chat: ChatPlace) -> None:
    """Show what is there again."""
    chat.session.asking = None
    chat.composer.set_busy(False)
    chat.composer.clear()
    chat.compare.left.emit()
    chat.session.open(None)


def _full(chat: ChatPlace) -> None:
    """A long conversation: branches, another composition, the context's beginning, files."""
    _show(
        chat,
        _asked("How do I sort by size?", "rows.csv"),
        _answered(_CODE, "pirates"),
        _asked("And as a pirate?"),
        _answered("Arr, matey! Put the *biggest* chest first.", "pirates"),
        _asked("Thanks. Now once more without the accent, please."),
        _answered("The biggest comes first.", "plain", "length", used=3840, left_out=2),
    )
    chat.composer.edit(5, "Thanks. Now once more, in one line.", ())


def _busy(chat: ChatPlace) -> None:
    _show(chat, _asked("How do I sort by size?"))
    asking = Asking(_NUMBER, Ask("again", node=1))
    chat.session.asking = asking
    chat.session.began.emit(asking)
    chat.session.stream.grew.emit(_CODE[:190])


def _error(chat: ChatPlace) -> None:
    _show(chat, _asked("How do I sort by size?"))
    failed = RuntimeCrashed("The runtime stopped while it was answering. Ask again to restart it.")
    chat.transcript.complain(f"{text.reason(failed)} [{text.code(failed)}]")


def _long(chat: ChatPlace) -> None:
    """Words and names that have no end."""
    _show(
        chat,
        _asked(_LONG, "a-file-whose-name-" + "goes-on-" * 10 + ".txt"),
        _answered(_LONG + "\n\n```\n" + _LONG + "\n```", "a stack whose name " + "goes on " * 9),
        title=_LONG,
    )


def _compare(chat: ChatPlace) -> None:
    words = "The sun is a star. It is very hot, and it gives us light. " * 6
    sides = (
        _side(words, "plain"),
        _side(words.replace("very hot", "hot as a cannon, matey"), "pirates"),
        Side(composition_id=_id("c"), error="Made for another model. [INCOMPATIBLE]"),
    )
    comparison = Comparison(
        question="Describe the sun.",
        setup=Setup(sampling=Sampling(seed=7)),
        after=None,
        created_at=_WHEN,
        sides=sides,
        vote=1,
        note="More fun",
    )
    chat.composer.compare_wanted.emit()
    titles = {_id("plain"): "plain", _id("pirates"): "pirates", _id("c"): "foreign"}
    chat.compare.show_kept(Kept(1, comparison), titles)


def _show(chat: ChatPlace, *messages: Message, title: str = "Sorting") -> None:
    nodes = tuple(Node(n, n - 1 or None, m) for n, m in enumerate(messages, 1))
    last = nodes[-1]
    # Something lies beside the last message.
    beside = Node(last.id + 1, last.parent, last.message)
    talked = Conversation(
        id=_NUMBER, title=title, created_at=_WHEN, nodes=(*nodes, beside), leaf=last.id
    )
    chat.compare.left.emit()
    chat.session.current = _NUMBER
    chat.session.shown.emit(Talked(talked, {}))
    chat.transcript.to_end()


def _asked(words: str, *files: str) -> Message:
    attached = tuple(Attachment(name=name, text="name,size") for name in files)
    return Message(role="user", text=words, created_at=_WHEN, attachments=attached)


def _answered(
    words: str, name: str, reason: FinishReason = "stop", used: int = 900, left_out: int = 0
) -> Message:
    stamp = _stamp(name, reason, used, left_out)
    return Message(role="assistant", text=words, created_at=_WHEN, stamp=stamp)


def _side(words: str, name: str) -> Side:
    return Side(composition_id=_id(name), text=words, stamp=_stamp(name, "stop", 60, 0))


def _stamp(name: str, reason: FinishReason, used: int, left_out: int) -> Stamp:
    return Stamp(
        composition_id=_id(name),
        composition_name=name,
        generation=4,
        finish_reason=reason,
        tokens=128,
        tokens_per_second=41.2,
        first_token_ms=212,
        prompt_tokens=used,
        n_ctx=4096,
        left_out=left_out,
    )


def _id(name: str) -> Digest:
    return sha256_bytes(name.encode())
