"""Setups under a name, for use in any conversation."""

import msgspec

from veneer.chat.setup import BUILT_IN, Preset, Setup
from veneer.errors import NameTaken
from veneer.store.database import Database


class Presets:
    """The presets of a workspace, after those that are always there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Preset, ...]:
        """The built-in ones, then the saved ones by name."""
        rows = self._database.rows("SELECT name, setup FROM presets ORDER BY name")
        saved = (
            Preset(name=r["name"], setup=msgspec.json.decode(r["setup"], type=Setup)) for r in rows
        )
        return (*BUILT_IN, *saved)

    def save(self, name: str, setup: Setup) -> None:
        """Keep a setup under this name, in place of an older one. Raises `NameTaken`."""
        if name in {preset.name for preset in BUILT_IN}:
            raise NameTaken(f"“{name}” is a preset of Veneer's own. Choose another name.")
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO presets (name, setup) VALUES (?, ?)",
                (name, msgspec.json.encode(setup).decode()),
            )

    def delete(self, name: str) -> None:
        """Remove a saved preset. Conversations that use it stay as they are."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM presets WHERE name = ?", (name,))
