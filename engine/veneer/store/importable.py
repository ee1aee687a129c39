"""What could be imported from a path: itself, or each of the things that a folder holds."""

from pathlib import Path
from typing import Final

from veneer.adapters.source import MLX_WEIGHTS, PEFT_CONFIG, PEFT_WEIGHTS
from veneer.errors import VeneerError
from veneer.store import hub
from veneer.store.fs import Fs
from veneer.store.intake import examine

_DEPTH: Final = 4
_MOST: Final = 1_000
_SUFFIXES: Final = (".gguf", ".safetensors", ".slm", ".zip", ".tar", ".tar.gz", ".tgz")


def importable(fs: Fs, path: Path) -> tuple[Path, ...]:
    """The paths to import, one for each base, adapter or stack; `path` itself if it is one.

    A file is always its own candidate, so that whoever imports it hears what is wrong with it,
    and so are a folder that holds nothing and a repository of a hub. Raises `StoreError`.
    """
    if hub.parse(path):
        return (path,)
    path = path.expanduser().resolve()
    found = fs.stat(path)
    if found is None or not found.is_dir or _is_one(fs, path):
        return (path,)
    inner = tuple(_inside(fs, path, _DEPTH))[:_MOST]
    return inner or (path,)


def _is_one(fs: Fs, folder: Path) -> bool:
    names = fs.list_dir(folder)
    if PEFT_CONFIG in names and (PEFT_WEIGHTS in names or MLX_WEIGHTS in names):
        return True
    if sum(name.lower().endswith(_SUFFIXES) for name in names) != 1:
        return False
    try:
        examine(fs, folder)
    except VeneerError:
        return False
    return True


def _inside(fs: Fs, folder: Path, depth: int) -> list[Path]:
    made: list[Path] = []
    for name in fs.list_dir(folder):
        if name.startswith("."):
            continue
        path = folder / name
        found = fs.stat(path)
        if found is None:
            continue
        if not found.is_dir:
            made += [path] if name.lower().endswith(_SUFFIXES) else []
        elif _is_one(fs, path):
            made.append(path)
        elif depth:
            made += _inside(fs, path, depth - 1)
    return made
