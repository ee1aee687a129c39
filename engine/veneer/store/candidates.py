"""Files that nothing needed when `gc` last looked, and since when."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from veneer.store.database import Database


class Candidates:
    """Paths relative to the workspace, with `/` between their parts; moments in UTC."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, datetime]:
        """Every candidate, and since when it is one."""
        rows = self._database.rows("SELECT path, since FROM unreachable")
        return {row["path"]: datetime.fromisoformat(row["since"]) for row in rows}

    def change(self, add: Mapping[str, datetime], drop: Iterable[str]) -> None:
        """Note new ones, and forget those that are needed again or gone."""
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM unreachable WHERE path = ?", [(path,) for path in drop]
            )
            connection.executemany(
                "INSERT INTO unreachable (path, since) VALUES (?, ?)",
                [(path, since.isoformat(timespec="milliseconds")) for path, since in add.items()],
            )
