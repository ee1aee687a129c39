"""The Chat in states that are seldom met: nothing of it is kept or asked."""

from veneer.chat.comparisons import Comparison, Kept, Side
from veneer.chat.conversation import Attachment, Conversation, Message, Node, Stamp
from veneer.chat.setup import Setup
from veneer.errors import RuntimeCrashed
from veneer.runtime.protocol import FinishReason, Sampling
from veneer_app import text
from veneer_app.chat.session import Ask, Asking, Listed
from veneer_app.reads import Choice, Talked
from veneer_app.shots import values
from veneer_app.window import MainWindow

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


def leave(window: MainWindow) -> None:
    """Show what is there again."""
    chat = window.chat
    chat.session.asking = None
    chat.composer.set_busy(False)
    chat.composer.clear()
    chat.compare.left.emit()
    chat.session.open(None)
    chat.session.refresh()
    chat.switcher.refresh()


def full(window: MainWindow) -> None:
    """A long conversation: branches, another composition, the context's beginning, files."""
    _show(
        window,
        _asked("How do I sort by size?", "rows.csv"),
        _answered(_CODE, "pirates"),
        _asked("And as a pirate?"),
        _answered("Arr, matey! Put the *biggest* chest first.", "pirates"),
        _asked("Thanks. Now once more without the accent, please."),
        _answered("The biggest comes first.", "plain", "length", used=3840, left_out=2),
    )
    window.chat.composer.edit(5, "Thanks. Now once more, in one line.", ())


def busy(window: MainWindow) -> None:
    """An answer on its way."""
    chat = window.chat
    _show(window, _asked("How do I sort by size?"))
    asking = Asking(_NUMBER, Ask("again", node=1))
    chat.session.asking = asking
    chat.session.began.emit(asking)
    chat.session.stream.grew.emit(_CODE[:190])


def error(window: MainWindow) -> None:
    """A question that could not be answered."""
    _show(window, _asked("How do I sort by size?"))
    failed = RuntimeCrashed("The runtime stopped while it was answering. Ask again to restart it.")
    window.chat.transcript.complain(f"{text.reason(failed)} [{text.code(failed)}]")


def long(window: MainWindow) -> None:
    """Words and names that have no end."""
    words = values.ENDLESS * 3
    _show(
        window,
        _asked(words, "a-file-whose-name-" + "goes-on-" * 10 + ".txt"),
        _answered(f"{words}\n\n```\n{words}\n```", values.ENDLESS),
        _asked(values.ARABIC),
        _answered(f"{values.ARABIC}: **{values.ARABIC}**", values.ARABIC),
        title=values.ENDLESS,
    )


def compare(window: MainWindow) -> None:
    """Three answers side by side, one of which failed."""
    chat = window.chat
    words = "The sun is a star. It is very hot, and it gives us light. " * 6
    sides = (
        _side(words, "plain"),
        _side(words.replace("very hot", "hot as a cannon, matey"), "pirates"),
        Side(
            composition_id=values.digest("foreign"), error="Made for another model. [INCOMPATIBLE]"
        ),
    )
    comparison = Comparison(
        question="Describe the sun.",
        setup=Setup(sampling=Sampling(seed=7)),
        after=None,
        created_at=values.WHEN,
        sides=sides,
        vote=1,
        note="More fun",
    )
    chat.composer.compare_wanted.emit()
    titles = {values.digest(name): name for name in ("plain", "pirates", "foreign")}
    chat.compare.show_kept(Kept(1, comparison), titles)


def _show(window: MainWindow, *messages: Message, title: str = "Sorting") -> None:
    chat = window.chat
    nodes = tuple(Node(n, n - 1 or None, m) for n, m in enumerate(messages, 1))
    last = nodes[-1]
    # Something lies beside the last message.
    beside = Node(last.id + 1, last.parent, last.message)
    talked = Conversation(
        id=_NUMBER, title=title, created_at=values.WHEN, nodes=(*nodes, beside), leaf=last.id
    )
    chat.compare.left.emit()
    chat.switcher.show_choices(_choices())
    chat.session.current = _NUMBER
    chat.session.listed.emit(_listed(talked))
    chat.session.shown.emit(Talked(talked, {}))
    chat.transcript.to_end()


def _choices() -> tuple[Choice, ...]:
    below = values.SMALL
    made = (Choice(s.name or "", below.digest, s.id, s.name == "pirates") for s in values.STACKS)
    return (Choice(below.name, below.digest, None, False), *made)


def _listed(talked: Conversation) -> tuple[Listed, ...]:
    titles = ("What a lease must say", values.ENDLESS, values.ARABIC)
    others = (
        Conversation(id=n, title=title, created_at=values.WHEN, pinned=n == _NUMBER + 1)
        for n, title in enumerate(titles, _NUMBER + 1)
    )
    return (Listed(talked), *map(Listed, others))


def _asked(words: str, *files: str) -> Message:
    attached = tuple(Attachment(name=name, text="name,size") for name in files)
    return Message(role="user", text=words, created_at=values.WHEN, attachments=attached)


def _answered(
    words: str, name: str, reason: FinishReason = "stop", used: int = 900, left_out: int = 0
) -> Message:
    stamp = _stamp(name, reason, used, left_out)
    return Message(role="assistant", text=words, created_at=values.WHEN, stamp=stamp)


def _side(words: str, name: str) -> Side:
    return Side(composition_id=values.digest(name), text=words, stamp=_stamp(name, "stop", 60, 0))


def _stamp(name: str, reason: FinishReason, used: int, left_out: int) -> Stamp:
    return Stamp(
        composition_id=values.digest(name),
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
