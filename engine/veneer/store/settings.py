"""What a person chose for this workspace. Kept as rows; anything absent has its default."""

import os
from typing import Literal

import msgspec
import psutil

from veneer.store.database import Database

Theme = Literal["system", "light", "dark"]


def default_threads() -> int:
    """One per physical core: llama.cpp gains nothing from hyper-threads."""
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes in tokens and bytes; `memory_budget` 0 means what the machine has free.

    `kv_budget` and `adapters_budget` are for what is kept in memory to switch back fast.
    `kv_disk_budget` keeps computed conversations in files too; 0 keeps none. `lane` says how
    adapters reach the arithmetic, see `compose.lanes`. `on_switch` says
    what a switch does to an answer that is being written.
    """

    n_ctx: int = 4096
    n_threads: int = msgspec.field(default_factory=default_threads)
    n_gpu_layers: int = 0
    type_kv: Literal["f16", "f32", "q8_0"] = "f16"
    lane: Literal["auto", "stock", "overlay"] = "auto"
    memory_budget: int = 0
    kv_budget: int = 256 << 20
    kv_disk_budget: int = 0
    adapters_budget: int = 512 << 20
    on_switch: Literal["cancel", "refuse"] = "cancel"
    theme: Theme = "system"


class SettingsShelf:
    """Reads and writes the settings of one workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Settings:
        """The settings as they are now. A row this Veneer does not know is left alone."""
        known = set(Settings.__struct_fields__)
        rows = self._database.rows("SELECT name, value FROM settings")
        found = {r["name"]: msgspec.json.decode(r["value"]) for r in rows if r["name"] in known}
        return msgspec.convert(found, Settings)

    def write(self, settings: Settings) -> None:
        """Keep these settings."""
        values = msgspec.to_builtins(settings)
        with self._database.transaction() as connection:
            for name, value in values.items():
                connection.execute(
                    "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
                    (name, msgspec.json.encode(value).decode()),
                )
