import sqlite3
from pathlib import Path

import pytest

from veneer.errors import StoreError, WorkspaceTooNew
from veneer.store.database import Database
from veneer.store.schema import MIGRATIONS


def test_a_transaction_is_all_or_nothing(tmp_path: Path):
    database = Database(tmp_path / "db", writable=True)
    with pytest.raises(RuntimeError), database.transaction() as connection:
        connection.execute("INSERT INTO settings VALUES ('a', '1')")
        raise RuntimeError
    assert database.rows("SELECT * FROM settings") == []
    with database.transaction() as connection:
        connection.execute("INSERT INTO settings VALUES ('a', '1')")
    assert [tuple(r) for r in database.rows("SELECT * FROM settings")] == [("a", "1")]
    database.close()


def test_a_commit_waits_for_the_disk(tmp_path: Path):
    database = Database(tmp_path / "db", writable=True)
    full = 2
    row = database.row("PRAGMA synchronous")
    assert row is not None
    assert row[0] == full
    database.close()


def test_a_reader_cannot_write(tmp_path: Path):
    database = Database(tmp_path / "db", writable=False)
    with pytest.raises(StoreError), database.transaction() as connection:
        connection.execute("INSERT INTO settings VALUES ('a', '1')")
    database.close()


def test_a_later_format_is_left_alone(tmp_path: Path):
    path = tmp_path / "db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(WorkspaceTooNew, match="later Veneer"):
        Database(path, writable=True)
    assert path.read_bytes()[100:] == before[100:]


def test_what_is_not_a_database_is_refused(tmp_path: Path):
    (tmp_path / "db").write_bytes(b"not a database, certainly" * 100)
    with pytest.raises(StoreError, match="db"):
        Database(tmp_path / "db", writable=True)
