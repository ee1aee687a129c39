"""What a folder holds: itself, if it is one thing, or each thing in it."""

import shutil
from pathlib import Path

from veneer.store.fs import RealFs
from veneer.store.importable import importable


def test_an_adapters_folder_is_itself(adapter_paths: dict[str, Path]):
    assert importable(RealFs(), adapter_paths["pirate"]) == (adapter_paths["pirate"],)


def test_a_folder_of_many_is_each_of_them(tmp_path: Path, adapter_paths: dict[str, Path]):
    shutil.copytree(adapter_paths["pirate"], tmp_path / "a" / "pirate")
    shutil.copytree(adapter_paths["terse"], tmp_path / "terse")
    for name in ("one.gguf", "two.gguf", "notes.txt", ".hidden.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    found = importable(RealFs(), tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in found]
    assert names == [str(Path("a", "pirate")), "one.gguf", "terse", "two.gguf"]


def test_what_holds_nothing_is_told_by_whoever_imports_it(tmp_path: Path):
    (tmp_path / "readme.txt").write_text("hi")
    assert importable(RealFs(), tmp_path) == (tmp_path,)
    assert importable(RealFs(), tmp_path / "nowhere") == (tmp_path / "nowhere",)
