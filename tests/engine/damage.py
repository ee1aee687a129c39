"""Ways in which files go bad, and where a workspace keeps them."""

from collections.abc import Callable
from pathlib import Path

from veneer import Workspace
from veneer.store.layout import Layout

Harm = Callable[[Path], None]


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_short(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


HARMS: dict[str, Harm] = {"flipped": flip_a_byte, "truncated": cut_short, "missing": Path.unlink}


def weights_of(workspace: Workspace, name: str) -> Path:
    files = workspace.library.find_adapter(name).files
    return Layout(workspace.root).object(files["adapter_model.safetensors"])


def manifest_of(workspace: Workspace, ref: str) -> Path:
    named = {n.name: n.digest for n in workspace.stacks.named()}
    return Layout(workspace.root).manifest(named[ref])


def quarantined(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "quarantine").iterdir())


def object_files(root: Path) -> set[str]:
    return {f"sha256:{p.name}" for p in (root / "objects").rglob("*") if p.is_file()}
