"""The tree of a conversation: what is shown, what lies beside it, what becomes of an old one."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from veneer.chat.conversation import Message
from veneer.chat.history import History
from veneer.chat.presets import Presets
from veneer.chat.search import search
from veneer.chat.setup import Setup
from veneer.errors import NameTaken, NotFound
from veneer.runtime.protocol import Sampling
from veneer.store.database import Database
from veneer.store.schema import MIGRATIONS

NOW = "2026-01-02T03:04:05.000+00:00"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "catalog.sqlite", writable=True)
    yield opened
    opened.close()


@pytest.fixture
def history(database: Database) -> History:
    return History(database)


def said(text: str) -> Message:
    role = "user" if text.endswith("?") else "assistant"
    return Message(role=role, text=text, created_at=NOW)


def shown(history: History, number: int) -> list[str]:
    return [message.text for message in history.get(number).messages]


@pytest.fixture
def branched(history: History) -> tuple[int, dict[str, int]]:
    """a? -> b -> (c? -> d, c2? -> d2), with c2 shown; gives the number and the nodes by text."""
    number = history.create("tree").value.id
    nodes: dict[str, int] = {}
    for text, before in (("a?", None), ("b", "a?"), ("c?", "b"), ("d", "c?")):
        after = nodes.get(before) if before else None
        nodes[text] = history.append(number, said(text), after).value.id
    nodes["c2?"] = history.append(number, said("c2?"), nodes["b"]).value.id
    nodes["d2"] = history.append(number, said("d2"), nodes["c2?"]).value.id
    return number, nodes


def test_what_is_beside_stays_and_can_be_shown_again(
    history: History, branched: tuple[int, dict[str, int]]
):
    number, nodes = branched
    assert shown(history, number) == ["a?", "b", "c2?", "d2"]
    assert history.get(number).children()[nodes["b"]] == (nodes["c?"], nodes["c2?"])
    history.show(number, nodes["c?"])
    assert shown(history, number) == ["a?", "b", "c?", "d"]
    history.show(number, nodes["a?"])
    assert shown(history, number) == ["a?", "b", "c2?", "d2"]


def test_a_deleted_message_takes_along_what_follows_and_shows_what_is_beside(
    history: History, branched: tuple[int, dict[str, int]]
):
    number, nodes = branched
    history.delete_message(number, nodes["c2?"])
    assert shown(history, number) == ["a?", "b", "c?", "d"]
    history.delete_message(number, nodes["d"])
    assert shown(history, number) == ["a?", "b", "c?"]
    history.delete_message(number, nodes["a?"])
    assert history.get(number).nodes == ()
    with pytest.raises(NotFound):
        history.delete_message(number, nodes["a?"])


def test_deleting_what_is_not_shown_leaves_what_is(
    history: History, branched: tuple[int, dict[str, int]]
):
    number, nodes = branched
    history.delete_message(number, nodes["c?"])
    assert shown(history, number) == ["a?", "b", "c2?", "d2"]


def test_a_conversation_of_thousands_of_messages_is_deleted_from_its_first(
    history: History, database: Database
):
    number = history.create("long").value.id
    with database.transaction() as connection:
        connection.executemany(
            "INSERT INTO messages (id, conversation, parent, record) VALUES (?, ?, ?, ?)",
            [
                (n, number, n - 1 or None, f'{{"role":"user","text":"{n}","created_at":"{NOW}"}}')
                for n in range(1, 3001)
            ],
        )
    history.show(number, 1)
    assert len(history.get(number).messages) == 3000
    history.delete_message(number, 1)
    assert history.get(number).nodes == ()


def test_pinned_conversations_come_first_and_keep_their_setup(history: History):
    setup = Setup(system="Be kind.", sampling=Sampling(temperature=0.1, seed=3), max_tokens=9)
    first = history.create("one", setup).value
    second = history.create("two").value
    history.pin(first.id, pinned=True)
    assert [c.title for c in history.all()] == ["one", "two"]
    assert history.get(first.id).setup == setup
    history.set_up(second.id, setup)
    assert history.get(second.id).setup == setup


def test_a_line_of_messages_of_before_becomes_a_tree_with_one_way(tmp_path: Path):
    path = tmp_path / "catalog.sqlite"
    connection = sqlite3.connect(path)
    for migration in MIGRATIONS[:3]:
        for statement in migration:
            connection.execute(statement)
    connection.execute("PRAGMA user_version = 3")
    connection.execute("INSERT INTO conversations VALUES (4, 'x', ?), (7, 'y', ?)", (NOW, NOW))
    for number, text in ((4, "a?"), (7, "q?"), (4, "b"), (4, "c?"), (7, "r")):
        role = "user" if text.endswith("?") else "assistant"
        connection.execute(
            "INSERT INTO messages (conversation, record) VALUES (?, ?)",
            (number, f'{{"role":"{role}","text":"{text}","created_at":"{NOW}"}}'),
        )
    connection.commit()
    connection.close()
    database = Database(path, writable=True)
    history = History(database)
    assert shown(history, 4) == ["a?", "b", "c?"]
    assert shown(history, 7) == ["q?", "r"]
    assert history.get(4).setup == Setup()
    database.close()


def test_search_looks_into_every_way_and_title_without_case(
    history: History, database: Database, branched: tuple[int, dict[str, int]]
):
    number, nodes = branched
    hidden = history.append(number, said("Where is the ÖLBERG, far away?"), nodes["d"]).value.id
    history.show(number, nodes["c2?"])
    titled = history.create("Ölberg travels").value.id
    history.create("nothing")
    found = search(database, history, " ölberg ")
    assert [(f.conversation.id, f.node) for f in found] == [(titled, None), (number, hidden)]
    assert found[1].excerpt == "Where is the ÖLBERG, far away?"
    assert search(database, history, "   ") == ()


def test_presets_are_kept_beside_the_built_in_ones(database: Database):
    presets = Presets(database)
    setup = Setup(system="You are terse.")
    presets.save("Mine", setup)
    presets.save("Mine", setup)
    assert [p.name for p in presets.all()] == [
        "Balanced", "Precise", "Inventive", "Greedy", "Mine",
    ]  # fmt: skip
    assert presets.all()[-1].setup == setup
    with pytest.raises(NameTaken):
        presets.save("Greedy", setup)
    presets.delete("Mine")
    assert len(presets.all()) == 4
