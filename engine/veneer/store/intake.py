"""From a path that a person dropped to what it is: a base or an adapter, and which files matter.

Nothing is copied and nothing is remembered here. Bytes are only looked at as far as needed to
tell the two kinds of GGUF apart, or to list an archive.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from veneer.adapters.gguf_reader import is_adapter
from veneer.adapters.source import MLX_WEIGHTS, PEFT_CONFIG, PEFT_WEIGHTS, source_format
from veneer.errors import FormatError, NotFound
from veneer.formats import gguf
from veneer.store.archive import Member, is_archive, members
from veneer.store.fs import Fs
from veneer.store.records import OpenedSource
from veneer.store.refs import clean_name

_MAGIC = b"GGUF"
_LISTED = 6


@dataclass(frozen=True)
class Intake:
    """What lies at a path: its kind, its semantic files by name, and a name for people."""

    kind: Literal["base", "adapter"]
    files: Mapping[str, Path | Member]
    name: str


def examine(fs: Fs, path: Path) -> Intake:
    """Tell what `path` is. Raises `NotFound`, `FormatError`, `PickleRefused`, `StoreError`."""
    path = path.expanduser().resolve()
    found = fs.stat(path)
    if found is None:
        raise NotFound(f"There is no {path}.")
    if found.is_dir:
        return _directory(fs, path)
    if path.name == PEFT_CONFIG:
        return _directory(fs, path.parent)
    return _file(fs, path)


def _directory(fs: Fs, path: Path) -> Intake:
    names = fs.list_dir(path)
    if PEFT_CONFIG in names and PEFT_WEIGHTS in names:
        return _peft(path, path / PEFT_CONFIG, path / PEFT_WEIGHTS)
    if PEFT_CONFIG in names and MLX_WEIGHTS in names:
        return _mlx(path)
    models = [name for name in names if name.lower().endswith(".gguf")]
    if len(models) == 1:
        return _file(fs, path / models[0])
    inner = _inner_adapters(fs, path, names)
    if len(inner) == 1:
        return _directory(fs, path / inner[0])
    if inner:
        listed = ", ".join(clean_name(name) for name in inner[:_LISTED])
        more = f" and {len(inner) - _LISTED} more" if len(inner) > _LISTED else ""
        message = f"There are {len(inner)} adapters in {path}: {listed}{more}. Import one of them."
        raise FormatError("COUNT", message)
    _refuse(names)
    raise FormatError("MAGIC", f"There is nothing to import in the folder {path}.")


def _inner_adapters(fs: Fs, path: Path, names: Iterable[str]) -> list[str]:
    """The folders in which PEFT keeps adapters that have a name, or a trainer its checkpoints."""
    return [name for name in names if fs.stat(path / name / PEFT_CONFIG) is not None]


def _file(fs: Fs, path: Path) -> Intake:
    config = path.with_name(PEFT_CONFIG)
    if path.name == MLX_WEIGHTS and fs.stat(config) is not None:
        return _mlx(path.parent)
    if path.suffix.lower() == ".safetensors" and fs.stat(config) is not None:
        return _peft(path.parent if path.name == PEFT_WEIGHTS else path, config, path)
    with fs.open_read(path) as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            return _gguf(file, path)
        archived = is_archive(file)
    if archived:
        return _archive(fs, path)
    if path.suffix.lower() != ".gguf":
        _refuse([path.name])
    raise FormatError(
        "MAGIC",
        f"{path.name} is neither a GGUF file nor a LoRA adapter (a folder with {PEFT_CONFIG} and "
        f"{PEFT_WEIGHTS}, a .safetensors file, a .gguf file, or one of these in a .zip or "
        ".tar.gz).",
    )


def _archive(fs: Fs, path: Path) -> Intake:
    found = members(fs, path)
    adapters = _adapters_in(found)
    if len(adapters) > 1:
        listed = ", ".join(clean_name(name) or path.name for name in sorted(adapters)[:_LISTED])
        message = f"There are {len(adapters)} adapters in {path.name}: {listed}. Unpack it first."
        raise FormatError("COUNT", message)
    if not adapters:
        _refuse(member.file_name for member in found)
        raise FormatError("MAGIC", f"There is no adapter in {path.name}.")
    ((folder, files),) = adapters.items()
    name = folder.rpartition("/")[2] or path.name.split(".")[0]
    return Intake("adapter", {member.file_name: member for member in files}, clean_name(name))


def _adapters_in(found: tuple[Member, ...]) -> dict[str, tuple[Member, ...]]:
    """The files of each adapter in an archive, by the folder they lie in."""
    folders: dict[str, dict[str, Member]] = {}
    for member in found:
        folders.setdefault(member.folder, {})[member.file_name] = member
    adapters: dict[str, tuple[Member, ...]] = {}
    for folder, files in folders.items():
        models = [file for name, file in files.items() if name.lower().endswith(".gguf")]
        for weights in (PEFT_WEIGHTS, MLX_WEIGHTS):
            if PEFT_CONFIG in files and weights in files:
                adapters.setdefault(folder, (files[PEFT_CONFIG], files[weights]))
        if len(models) == 1:
            adapters.setdefault(folder, (models[0],))
    return adapters


def _gguf(file: BinaryIO, path: Path) -> Intake:
    file.seek(0)
    header = gguf.read_header(file)
    # The name is ours, not the file's: a store of names without suffix has GGUF files too.
    name = path.name if path.suffix.lower() == ".gguf" else f"{path.name}.gguf"
    return Intake("adapter" if is_adapter(header) else "base", {name: path}, clean_name(path.stem))


def _peft(named: Path, config: Path, weights: Path) -> Intake:
    name = clean_name(named.stem if named == weights else named.name)
    return Intake("adapter", {PEFT_CONFIG: config, PEFT_WEIGHTS: weights}, name)


def _mlx(path: Path) -> Intake:
    files = {PEFT_CONFIG: path / PEFT_CONFIG, MLX_WEIGHTS: path / MLX_WEIGHTS}
    return Intake("adapter", files, clean_name(path.name))


def _refuse(names: Iterable[str]) -> None:
    """Raise the reason why files of these names are no adapter, where the names tell."""
    source_format(OpenedSource(dict.fromkeys(names, _never_opened)))


def _never_opened() -> BinaryIO:
    raise AssertionError("the names alone decide")
