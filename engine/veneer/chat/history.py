"""Conversations in the database. Deleting one deletes its messages."""

import msgspec

from veneer.chat.conversation import Conversation, Message
from veneer.errors import NotFound
from veneer.store.changes import Changes, Outcome
from veneer.store.database import Database, Row, now


class History:
    """The conversations of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, title: str) -> Outcome[Conversation]:
        """Begin an empty conversation."""
        created_at = now()
        with self._database.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO conversations (title, created_at) VALUES (?, ?)", (title, created_at)
            )
            number = cursor.lastrowid or 0
        conversation = Conversation(id=number, title=title, created_at=created_at)
        return Outcome(conversation, _changed(number))

    def all(self) -> tuple[Conversation, ...]:
        """Every conversation without its messages, newest first."""
        rows = self._database.rows("SELECT * FROM conversations ORDER BY id DESC")
        return tuple(_conversation(row, ()) for row in rows)

    def get(self, number: int) -> Conversation:
        """One conversation with its messages. Raises `NotFound`."""
        row = self._database.row("SELECT * FROM conversations WHERE id = ?", (number,))
        if row is None:
            raise NotFound(f"There is no conversation {number}.")
        messages = self._database.rows(
            "SELECT record FROM messages WHERE conversation = ? ORDER BY id", (number,)
        )
        decoded = (msgspec.json.decode(m["record"], type=Message) for m in messages)
        return _conversation(row, tuple(decoded))

    def append(self, number: int, message: Message) -> Changes:
        """Add a message to the end."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO messages (conversation, record) VALUES (?, ?)",
                (number, msgspec.json.encode(message).decode()),
            )
        return _changed(number)

    def rename(self, number: int, title: str) -> Changes:
        """Give a conversation another title."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE conversations SET title = ? WHERE id = ?", (title, number))
        return _changed(number)

    def delete(self, number: int) -> Changes:
        """Delete a conversation and its messages."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM conversations WHERE id = ?", (number,))
        return _changed(number)


def _conversation(row: Row, messages: tuple[Message, ...]) -> Conversation:
    return Conversation(
        id=row["id"], title=row["title"], created_at=row["created_at"], messages=messages
    )


def _changed(number: int) -> Changes:
    return Changes(conversations=frozenset({number}))
