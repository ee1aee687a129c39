"""What a transcript shows of a conversation, as values."""

from tests.app.chat.support import NOW, answered, asked, line, stamp
from veneer.chat.conversation import Attachment, Conversation, Node
from veneer.identity import Digest
from veneer_app.chat.turns import (
    Divider,
    Entry,
    Filled,
    Forgotten,
    Made,
    Turn,
    badge,
    entries,
    filled,
    step,
)
from veneer_app.reads import Talked


def talked(*nodes: Node, leaf: int, **titles: str) -> Talked:
    kept = Conversation(id=1, title="t", created_at=NOW, nodes=nodes, leaf=leaf)
    return Talked(kept, {Digest(f"sha256:{key}"): title for key, title in titles.items()})


def kinds(found: tuple[Entry, ...]) -> list[str]:
    return [e.text if isinstance(e, Turn) else type(e).__name__ for e in found]


def test_another_composition_is_divided_off_before_its_question() -> None:
    nodes = line(
        asked("a"),
        answered("b", stamp("one")),
        asked("c"),
        answered("d", stamp("two", "composition_changed")),
    )
    found = entries(talked(*nodes, leaf=4, two="renamed"))
    assert kinds(found) == ["a", "b", "Divider", "c", "d"]
    assert found[2] == Divider("renamed")
    last = found[4]
    assert isinstance(last, Turn)
    assert last.footer == (
        "7 tokens · 41.2 tok/s · first after 1.0 ms · the composition was changed"
    )
    assert (last.cut, last.short, last.node) == (True, True, 4)
    assert last.made == (Made(Digest("sha256:two"), "renamed", 1),)


def test_an_answer_that_went_on_names_each_composition_once() -> None:
    one, two = stamp("one", "length"), stamp("two")
    (_, last) = entries(talked(*line(asked("a"), answered("b", two, one, one)), leaf=2))
    assert isinstance(last, Turn)
    assert [made.title for made in last.made] == ["one", "two"]


def test_arrows_lead_to_what_lies_beside() -> None:
    nodes = (
        *line(asked("a"), answered("b")),
        Node(3, 1, answered("c")),
        Node(4, 1, answered("d")),
    )
    (_, shown) = entries(talked(*nodes, leaf=3))
    assert isinstance(shown, Turn)
    assert (shown.beside, step(shown, -1), step(shown, 1)) == ((2, 3, 4), 2, 4)
    (_, last) = entries(talked(*nodes, leaf=4))
    assert isinstance(last, Turn)
    assert step(last, 1) is None


def test_where_the_context_began_is_said_and_how_full_it_is() -> None:
    full = stamp("one", prompt_tokens=80, n_ctx=100, left_out=2)
    kept = talked(*line(asked("a"), answered("b"), asked("c"), answered("d", full)), leaf=4)
    assert kinds(entries(kept)) == ["a", "b", "Forgotten", "Divider", "c", "d"]
    assert entries(kept)[2] == Forgotten(2)
    assert filled(kept.conversation) == Filled(87, 100, 2)
    old = talked(*line(asked("a"), answered("b")), leaf=2)
    assert filled(old.conversation) == Filled()


def test_only_the_last_question_without_an_answer_is_open() -> None:
    attached = asked("c", Attachment(name="n\u202eotes.txt", text="x"))
    found = entries(talked(*line(asked("a"), answered("b"), attached), leaf=3))
    assert [e.open for e in found if isinstance(e, Turn)] == [False, False, True]
    assert isinstance(found[2], Turn)
    assert found[2].files == ("notes.txt",)
    assert kinds(entries(talked(*line(asked("a"), answered("b")), leaf=2), before=2)) == ["a"]


def test_a_badge_has_the_name_and_the_beginning_of_the_id() -> None:
    digest = Digest("sha256:" + "0123456789abcdef" * 4)
    assert badge(Made(digest, "pirates", 1)) == "pirates · 01234567"
    assert badge(Made(digest, "01234567", 1)) == "01234567"
