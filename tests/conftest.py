"""What every test shares: the real base, the real adapters, and workspaces that hold them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.demo import adapters, embedded_base


@pytest.fixture(scope="session")
def base_path() -> Path:
    """SmolLM2-135M-Instruct, quantized to Q4_1."""
    path = embedded_base()
    assert path is not None, "pip install -e '.[demo,test]'"
    return path


@pytest.fixture(scope="session")
def adapter_paths() -> dict[str, Path]:
    """The demo adapters' folders by name."""
    return {path.name: path for path in adapters()}


@pytest.fixture(scope="session")
def stocked(
    tmp_path_factory: pytest.TempPathFactory, base_path: Path, adapter_paths: dict[str, Path]
) -> Path:
    """A workspace with the base, three adapters and four stacks, never opened by a test itself."""
    root = tmp_path_factory.mktemp("stocked") / "workspace"
    with Workspace.open(root) as workspace:
        workspace.import_path(base_path, name="smol")
        for path in adapter_paths.values():
            workspace.import_path(path)
        workspace.compose("smol", name="plain")
        workspace.compose("smol", [("pirate", 1.0)], name="pirates")
        workspace.compose("smol", [("json", 1.0)], name="objects")
        workspace.compose("smol", [("pirate", 1.0), ("terse", 0.5)], name="both")
    return root


@pytest.fixture
def root(stocked: Path, tmp_path: Path) -> Path:
    """A stocked workspace of the test's own."""
    copy = tmp_path / "workspace"
    shutil.copytree(stocked, copy)
    return copy


@pytest.fixture
def stranger(adapter_paths: dict[str, Path], tmp_path: Path) -> Path:
    """The pirate's weights in a folder that says they were made for another model."""
    folder = tmp_path / "stranger"
    shutil.copytree(adapter_paths["pirate"], folder)
    config = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    config["base_model_name_or_path"] = "somebody/another-model"
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    """A stocked workspace, open for writing."""
    with Workspace.open(root) as opened:
        yield opened
