"""Conversations in the database. Deleting one deletes its messages, its comparisons with them."""

from typing import Any

import msgspec

from veneer.chat.conversation import Conversation, Message, Node
from veneer.chat.setup import Setup
from veneer.errors import NotFound
from veneer.store.changes import Changes, Outcome
from veneer.store.database import Database, Row, now


class History:
    """The conversations of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, title: str, setup: Setup | None = None) -> Outcome[Conversation]:
        """Begin an empty conversation."""
        created_at, setup = now(), setup or Setup()
        with self._database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO conversations (title, created_at, setup) VALUES (?, ?, ?)",
                (title, created_at, _encoded(setup)),
            )
            number = cursor.lastrowid or 0
        conversation = Conversation(id=number, title=title, created_at=created_at, setup=setup)
        return Outcome(conversation, changed(number))

    def all(self) -> tuple[Conversation, ...]:
        """Every conversation without its messages: the pinned ones first, then newest first."""
        rows = self._database.rows("SELECT * FROM conversations ORDER BY pinned DESC, id DESC")
        return tuple(_conversation(row, ()) for row in rows)

    def get(self, number: int) -> Conversation:
        """One conversation with its messages. Raises `NotFound`."""
        row = self._database.row("SELECT * FROM conversations WHERE id = ?", (number,))
        if row is None:
            raise NotFound(f"There is no conversation {number}.")
        rows = self._database.rows(
            "SELECT id, parent, record FROM messages WHERE conversation = ? ORDER BY id", (number,)
        )
        return _conversation(row, tuple(_node(r) for r in rows))

    def append(self, number: int, message: Message, after: int | None) -> Outcome[Node]:
        """Add a message after another one (None: at the beginning) and show the way to it."""
        with self._database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO messages (conversation, parent, record) VALUES (?, ?, ?)",
                (number, after, _encoded(message)),
            )
            node = Node(cursor.lastrowid or 0, after, message)
            connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (node.id, number))
        return Outcome(node, changed(number))

    def show(self, number: int, node: int) -> Changes:
        """Show the newest way through this node. Raises `NotFound`."""
        conversation = self.get(number)
        if not conversation.path_to(node):
            raise NotFound(f"There is no message {node} in conversation {number}.")
        return self._set(number, "leaf", conversation.end_after(node))

    def delete_message(self, number: int, node: int) -> Changes:
        """Delete a message and everything that follows it, and show what is beside or before it.

        Raises `NotFound`.
        """
        conversation = self.get(number)
        way = conversation.path_to(node)
        if not way:
            raise NotFound(f"There is no message {node} in conversation {number}.")
        gone = conversation.below(node)
        left = tuple(n for n in conversation.nodes if n.id not in gone)
        remaining = msgspec.structs.replace(conversation, nodes=left)
        leaf = conversation.leaf
        if leaf in gone:
            leaf = remaining.end_after(way[-1].parent)
        with self._database.transaction() as connection:
            # In one statement: a chain of cascades is cut off at a thousand.
            connection.execute(
                "DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(sorted(gone)).decode(),),
            )
            connection.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (leaf, number))
        return changed(number)

    def rename(self, number: int, title: str) -> Changes:
        """Give a conversation another title."""
        return self._set(number, "title", title)

    def pin(self, number: int, *, pinned: bool) -> Changes:
        """Keep a conversation at the top of the list, or no longer."""
        return self._set(number, "pinned", int(pinned))

    def set_up(self, number: int, setup: Setup) -> Changes:
        """Hold a conversation in another way from now on."""
        return self._set(number, "setup", _encoded(setup))

    def delete(self, number: int) -> Changes:
        """Delete a conversation and its messages."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM conversations WHERE id = ?", (number,))
        return changed(number)

    def _set(self, number: int, column: str, value: Any) -> Changes:
        with self._database.transaction() as connection:
            connection.execute(
                f"UPDATE conversations SET {column} = ? WHERE id = ?", (value, number)
            )
        return changed(number)


def changed(number: int) -> Changes:
    """Something about this conversation is different now."""
    return Changes(conversations=frozenset({number}))


def _encoded(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()


def _node(row: Row) -> Node:
    message = msgspec.json.decode(row["record"], type=Message)
    return Node(row["id"], row["parent"], message)


def _conversation(row: Row, nodes: tuple[Node, ...]) -> Conversation:
    return Conversation(
        id=row["id"],
        title=row["title"],
        created_at=row["created_at"],
        pinned=bool(row["pinned"]),
        setup=msgspec.json.decode(row["setup"], type=Setup),
        nodes=nodes,
        leaf=row["leaf"],
    )
