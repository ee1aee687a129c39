"""What a person chose for this workspace. Kept as rows; anything absent has its default."""

import os
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
import psutil
from msgspec import Meta

from veneer.errors import BadSetting
from veneer.store.database import Database

Theme = Literal["system", "light", "dark"]
_Bytes = Annotated[int, Meta(ge=0, le=1 << 50)]


@cache
def default_threads() -> int:
    """One per physical core: llama.cpp gains nothing from hyper-threads.

    Asked of the system once, since every switch reads the settings.
    """
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes in tokens and bytes; `memory_budget` 0 means what the machine has free.

    `device` is the one GPU to use; without one llama.cpp takes what there is.
    What the newest `keep_generations` need stays when it is removed from the library.
    `kv_budget` and `adapters_budget` are for what is kept in memory to switch back fast.
    `kv_disk_budget` keeps computed conversations in files too; 0 keeps none. `lane` says how
    adapters reach the arithmetic, see `compose.lanes`. `on_switch` says what a switch does to an
    answer that is being written. With `require_signature` only what a trusted key has signed is
    activated. What appears in the `watched` folders is imported.
    `language` is a code such as "de"; "system" means the system's.
    """

    n_ctx: Annotated[int, Meta(ge=64, le=1 << 24)] = 4096
    n_threads: Annotated[int, Meta(ge=1, le=1024)] = msgspec.field(default_factory=default_threads)
    n_gpu_layers: Annotated[int, Meta(ge=0, le=10_000)] = 0
    device: Annotated[str, Meta(max_length=100)] = ""
    type_kv: Literal["f16", "f32", "q8_0"] = "f16"
    lane: Literal["auto", "stock", "overlay"] = "auto"
    memory_budget: _Bytes = 0
    kv_budget: _Bytes = 256 << 20
    kv_disk_budget: _Bytes = 0
    adapters_budget: _Bytes = 512 << 20
    on_switch: Literal["cancel", "refuse"] = "cancel"
    require_signature: bool = False
    keep_generations: Annotated[int, Meta(ge=1, le=1_000_000)] = 50
    theme: Theme = "system"
    language: Annotated[str, Meta(min_length=1, max_length=20)] = "system"
    watched: tuple[str, ...] = ()


class SettingsShelf:
    """Reads and writes the settings of one workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Settings:
        """The settings as they are now. A row that this Veneer cannot use is left alone."""
        rows = self._database.rows("SELECT name, value FROM settings")
        return Settings(**dict(_usable({r["name"]: msgspec.json.decode(r["value"]) for r in rows})))

    def write(self, settings: Settings) -> None:
        """Keep these settings. Raises `BadSetting`."""
        values = msgspec.to_builtins(settings)
        for name, value in values.items():
            checked(name, value)
        with self._database.transaction() as connection:
            for name, value in values.items():
                connection.execute(
                    "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
                    (name, msgspec.json.encode(value).decode()),
                )


def known(name: str) -> str:
    """The same name. Raises `BadSetting` if no setting has it."""
    if name not in _FIELDS:
        raise BadSetting(f"There is no setting “{name}”. There are {', '.join(_FIELDS)}.")
    return name


def checked(name: str, value: Any, *, strict: bool = True) -> Any:
    """A value that the setting can have; unless `strict`, from text. Raises `BadSetting`."""
    try:
        return msgspec.convert(value, _FIELDS[known(name)].type, strict=strict)
    except msgspec.ValidationError as error:
        raise BadSetting(f"The setting {name} cannot be {value!r}: {error}.") from error


_FIELDS = {field.name: field for field in msgspec.structs.fields(Settings)}


def _usable(found: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        try:
            yield name, checked(name, value)
        except BadSetting:
            continue
