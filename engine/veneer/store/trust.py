"""The public keys whose signatures count in this workspace, as rows."""

from msgspec import Struct

from veneer.errors import NotFound
from veneer.store.database import Database, now
from veneer.store.refs import clean_name


class TrustedKey(Struct, frozen=True, kw_only=True):
    """A key, whose it is said to be, and when that was said (UTC, ISO 8601)."""

    key: str
    name: str
    added_at: str


class TrustedKeys:
    """Adds, lists and removes trusted keys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[TrustedKey, ...]:
        """Every trusted key, by name."""
        rows = self._database.rows("SELECT * FROM trusted_keys ORDER BY name, key")
        return tuple(TrustedKey(**dict(row)) for row in rows)

    def has(self, key: str) -> bool:
        """Whether the key is trusted."""
        found = self._database.row("SELECT 1 FROM trusted_keys WHERE key = ?", (key,))
        return found is not None

    def add(self, key: str, name: str) -> None:
        """Trust a key, or call it by another name."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO trusted_keys (key, name, added_at) VALUES (?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET name = excluded.name",
                (key, clean_name(name), now()),
            )

    def remove(self, key: str) -> None:
        """Trust a key no more. Raises `NotFound`."""
        with self._database.transaction() as connection:
            gone = connection.execute("DELETE FROM trusted_keys WHERE key = ?", (key,))
        if not gone.rowcount:
            raise NotFound(f"The key {key} is not trusted here.")
