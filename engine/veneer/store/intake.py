"""From a path that a person dropped to what it is: a base or an adapter, and which files matter.

Nothing is copied and nothing is remembered here. Bytes are only looked at as far as needed to
tell the two kinds of GGUF apart, or to list an archive.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from veneer.adapters.gguf_reader import is_adapter
from veneer.adapters.source import MLX_WEIGHTS, PEFT_CONFIG, PEFT_WEIGHTS, refusal
from veneer.errors import FormatError, NotFound, VeneerError
from veneer.formats import chat_template, gguf
from veneer.formats.tokenizer import FILE as TOKENIZER
from veneer.store.archive import is_archive, members
from veneer.store.fs import Fs
from veneer.store.refs import clean_name
from veneer.store.streamed import Streamed

_MAGIC = b"GGUF"
_LISTED = 6
_MODEL_CONFIG = "config.json"
_BESIDE = (TOKENIZER, chat_template.TEMPLATE, chat_template.CONFIG)
_WANTED = (
    f"A base is a .gguf file. An adapter is a folder with {PEFT_CONFIG} and {PEFT_WEIGHTS}, a "
    ".safetensors file, a .gguf file, or one of these in a .zip or .tar.gz."
)


S = TypeVar("S", bound=Streamed)


@dataclass(frozen=True)
class Intake:
    """What lies at a path: its kind, its semantic files by name, and a name for people.

    `beside` lies beside the files of an adapter and is no part of it: what says to which tokens
    and in which form its trainer spoke.
    """

    kind: Literal["base", "adapter"]
    files: Mapping[str, Path | Streamed]
    name: str
    beside: Mapping[str, Path | Streamed] = field(default_factory=dict[str, Path | Streamed])


def examine(fs: Fs, path: Path) -> Intake:
    """Tell what `path` is. Raises `NotFound`, `FormatError`, `PickleRefused`, `StoreError`."""
    path = path.expanduser().resolve()
    found = fs.stat(path)
    if found is None:
        raise NotFound(f"There is no {path}.")
    if found.is_dir:
        return _directory(fs, path)
    if not found.is_file:
        raise FormatError("MAGIC", f"{path} is a device or a pipe, not a file.")
    if path.name == PEFT_CONFIG:
        return _directory(fs, path.parent)
    return _file(fs, path)


def _directory(fs: Fs, path: Path) -> Intake:
    names = fs.list_dir(path)
    beside = {name: path / name for name in _BESIDE if name in names}
    if PEFT_CONFIG in names and PEFT_WEIGHTS in names:
        return _peft(path, path / PEFT_CONFIG, path / PEFT_WEIGHTS, beside)
    if PEFT_CONFIG in names and MLX_WEIGHTS in names:
        return _mlx(path, beside)
    models = [name for name in names if name.lower().endswith(".gguf")]
    if len(models) == 1:
        return _file(fs, path / models[0])
    if (lone := _lone_weights(names)) is not None:
        return _file(fs, path / lone)
    inner = _inner_adapters(fs, path, names)
    if len(inner) == 1:
        return _directory(fs, path / inner[0])
    if inner:
        listed = ", ".join(clean_name(name) for name in inner[:_LISTED])
        more = f" and {len(inner) - _LISTED} more" if len(inner) > _LISTED else ""
        message = f"There are {len(inner)} adapters in {path}: {listed}{more}. Import one of them."
        raise FormatError("COUNT", message)
    raise _nothing_in(path, names)


def _nothing_in(path: Path, names: Sequence[str]) -> VeneerError:
    if not names:
        return FormatError("MAGIC", f"The folder {path} is empty.")
    if _MODEL_CONFIG in names:
        return FormatError(
            "MAGIC",
            f"{path} is a whole model in Hugging Face's form ({_MODEL_CONFIG}), not an adapter. A "
            "base comes as one GGUF file, which llama.cpp's convert_hf_to_gguf.py makes of it.",
        )
    listed = ", ".join(clean_name(name) for name in names[:_LISTED])
    return refusal(names) or FormatError(
        "MAGIC", f"There is nothing to import in the folder {path}, which holds {listed}. {_WANTED}"
    )


def _lone_weights(names: Iterable[str]) -> str | None:
    """The one safetensors file of a folder with no config that would say more."""
    weights = [name for name in names if name.lower().endswith(".safetensors")]
    return weights[0] if len(weights) == 1 and not {PEFT_CONFIG, _MODEL_CONFIG} & {*names} else None


def _inner_adapters(fs: Fs, path: Path, names: Iterable[str]) -> list[str]:
    """The folders in which PEFT keeps adapters that have a name, or a trainer its checkpoints."""
    return [name for name in names if fs.stat(path / name / PEFT_CONFIG) is not None]


def _file(fs: Fs, path: Path) -> Intake:
    config = path.with_name(PEFT_CONFIG)
    if path.suffix.lower() == ".safetensors" and fs.stat(config) is not None:
        near = {name: path.with_name(name) for name in _BESIDE}
        beside = {name: place for name, place in near.items() if fs.stat(place) is not None}
        if path.name == MLX_WEIGHTS:
            return _mlx(path.parent, beside)
        named = path.parent if path.name == PEFT_WEIGHTS else path
        return _peft(named, config, path, beside)
    with fs.open_read(path) as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            return _gguf(file, path)
        archived = is_archive(file)
    if archived:
        return _archive(fs, path)
    if path.suffix.lower() == ".safetensors":
        return Intake("adapter", {path.name: path}, clean_name(path.stem))
    raise refusal([path.name]) or FormatError(
        "MAGIC", f"{path.name} is neither a base nor an adapter. {_WANTED}"
    )


def _archive(fs: Fs, path: Path) -> Intake:
    found = members(fs, path)
    adapters = adapters_in(found)
    if len(adapters) > 1:
        listed = ", ".join(clean_name(name) or path.name for name in sorted(adapters)[:_LISTED])
        message = f"There are {len(adapters)} adapters in {path.name}: {listed}. Unpack it first."
        raise FormatError("COUNT", message)
    if not adapters:
        refused = refusal([member.file_name for member in found])
        raise refused or FormatError("MAGIC", f"There is no adapter in {path.name}. {_WANTED}")
    ((folder, files),) = adapters.items()
    name = folder.rpartition("/")[2] or path.name.split(".")[0]
    named = {member.file_name: member for member in files}
    return Intake("adapter", named, clean_name(name), beside_in(folder, found))


def beside_in(folder: str, found: Iterable[S]) -> dict[str, S]:
    """What lies in a folder beside an adapter's files, by name."""
    return {f.file_name: f for f in found if f.folder == folder and f.file_name in _BESIDE}


def adapters_in(found: Iterable[S]) -> dict[str, tuple[S, ...]]:
    """The files of each adapter among these, by the folder they lie in."""
    folders: dict[str, dict[str, S]] = {}
    for each in found:
        folders.setdefault(each.folder, {})[each.file_name] = each
    adapters: dict[str, tuple[S, ...]] = {}
    for folder, files in folders.items():
        models = [file for name, file in files.items() if name.lower().endswith(".gguf")]
        for weights in (PEFT_WEIGHTS, MLX_WEIGHTS):
            if PEFT_CONFIG in files and weights in files:
                adapters.setdefault(folder, (files[PEFT_CONFIG], files[weights]))
        if len(models) == 1:
            adapters.setdefault(folder, (models[0],))
        if (lone := _lone_weights(files)) is not None:
            adapters.setdefault(folder, (files[lone],))
    return adapters


def _gguf(file: BinaryIO, path: Path) -> Intake:
    file.seek(0)
    header = gguf.read_header(file)
    # The name is ours, not the file's: a store of names without suffix has GGUF files too.
    name = path.name if path.suffix.lower() == ".gguf" else f"{path.name}.gguf"
    return Intake("adapter" if is_adapter(header) else "base", {name: path}, clean_name(path.stem))


def _peft(named: Path, config: Path, weights: Path, beside: Mapping[str, Path]) -> Intake:
    name = clean_name(named.stem if named == weights else named.name)
    return Intake("adapter", {PEFT_CONFIG: config, PEFT_WEIGHTS: weights}, name, beside)


def _mlx(path: Path, beside: Mapping[str, Path]) -> Intake:
    files = {PEFT_CONFIG: path / PEFT_CONFIG, MLX_WEIGHTS: path / MLX_WEIGHTS}
    return Intake("adapter", files, clean_name(path.name), beside)
