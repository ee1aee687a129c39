"""What is saved of a database that lost rows, as SQLite itself sees it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from veneer.errors import WorkspaceTooNew
from veneer.store.database import Database
from veneer.store.salvage import salvage
from veneer.store.schema import MIGRATIONS


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as a damaged page leaves it: the first of three messages is gone."""
    path = tmp_path / "old"
    Database(path, writable=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO conversations (id, title, created_at) VALUES (7, 't', '')")
        connection.executemany(
            "INSERT INTO messages (id, conversation, parent, record) VALUES (?, ?, ?, '{}')",
            [(2, 7, 1), (3, 7, 2), (4, 8, None)],
        )
        connection.commit()
    return path


def rows(path: Path, select: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(select).fetchall()


def test_a_row_forgets_a_lost_one_or_goes_where_it_cannot_be_without(old: Path, tmp_path: Path):
    salvage(old, tmp_path / "new")
    saved = rows(tmp_path / "new", "SELECT id, conversation, parent FROM messages ORDER BY id")
    assert saved == [(2, 7, None), (3, 7, 2)]
    assert rows(tmp_path / "new", "PRAGMA foreign_key_check") == []


def test_a_text_that_is_none_costs_its_row_alone(old: Path, tmp_path: Path):
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE messages SET record = CAST(x'ff' AS TEXT) WHERE id = 3")
        connection.commit()
    saved = salvage(old, tmp_path / "new")
    assert rows(tmp_path / "new", "SELECT id FROM messages") == [(2,)]
    assert saved.rows["messages"] == 2
    assert "messages" not in saved.complete
    assert "conversations" in saved.complete


def test_an_older_version_stays_one(old: Path, tmp_path: Path):
    older = tmp_path / "older"
    with closing(sqlite3.connect(older)) as connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO settings VALUES ('n_ctx', '512')")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    salvage(older, tmp_path / "new")
    assert rows(tmp_path / "new", "PRAGMA user_version") == [(1,)]
    assert rows(tmp_path / "new", "SELECT * FROM settings") == [("n_ctx", "512")]


def test_a_later_version_is_left_alone(old: Path, tmp_path: Path):
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(WorkspaceTooNew):
        salvage(old, tmp_path / "new")
    assert not (tmp_path / "new").exists()
