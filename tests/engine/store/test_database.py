import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from veneer.errors import DiskFull, StoreError, WorkspaceTooNew
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


def settings_of(database: Database) -> list[str]:
    return [row["name"] for row in database.rows("SELECT name FROM settings")]


def put(database: Database, name: str, size: int = 1) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO settings VALUES (?, ?)", (name, "x" * size))


def test_a_full_disk_is_called_full_and_the_next_transaction_works(tmp_path: Path):
    database = Database(tmp_path / "db", writable=True)
    pages = database.rows("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(DiskFull, match=r"disk is full.*db"):
        put(database, "large", 100_000)
    put(database, "small")
    assert settings_of(database) == ["small"]
    database.close()


@contextmanager
def files_cannot_grow_beyond(size: int) -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the process")
def test_a_commit_that_cannot_be_written_is_no_commit(tmp_path: Path):
    database = Database(tmp_path / "db", writable=True)
    written = (tmp_path / "db-wal").stat().st_size
    with files_cannot_grow_beyond(written), pytest.raises(StoreError, match="disk I/O error"):
        put(database, "lost")
    put(database, "kept")
    assert settings_of(database) == ["kept"]
    database.close()
