"""Windows without a display, on copies of the stocked workspace."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from safetensors.numpy import save_file

from veneer import Workspace
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.theme.apply import Theme
from veneer_app.window import MainWindow

Open = Callable[[Path], MainWindow]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform remarks on what it cannot do and need not."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(
                pytest.mark.qt_log_ignore(
                    r"does not support (propagateSizeHints|raise\(\)|grabbing the keyboard)"
                )
            )


@pytest.fixture(scope="session")
def theme(qapp: QtWidgets.QApplication) -> Theme:
    """The one that an application has."""
    return Theme(qapp)


@pytest.fixture
def open_window(qtbot: QtBot, qapp: QtWidgets.QApplication, theme: Theme) -> Iterator[Open]:
    """Opens workspaces in windows, and closes both in the end."""
    opened: list[tuple[MainWindow, Workspace]] = []

    def opener(root: Path) -> MainWindow:
        workspace = Workspace.open(root, by="window")
        window = MainWindow(workspace, theme)
        opened.append((window, workspace))
        window.show()
        qtbot.waitUntil(lambda: window.operations.idle, timeout=10_000)
        return window

    yield opener
    for window, workspace in opened:
        window.close()
        window.deleteLater()
        workspace.close()
    # No event loop runs here that would delete what is to be deleted later.
    qapp.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    qapp.processEvents()


@pytest.fixture
def window(open_window: Open, stocked: Path, tmp_path: Path) -> MainWindow:
    """A window on a workspace with a base, three adapters and four stacks."""
    shutil.copytree(stocked, tmp_path / "workspace")
    return open_window(tmp_path / "workspace")


@pytest.fixture
def fresh(open_window: Open, tmp_path: Path) -> MainWindow:
    """A window on a workspace with nothing in it."""
    return open_window(tmp_path / "empty")


@pytest.fixture
def foreign_adapter(tmp_path: Path) -> Path:
    """A sound adapter for a narrower model."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    config = {
        "peft_type": "LORA",
        "r": 4,
        "lora_alpha": 4,
        "target_modules": ["q_proj"],
        "base_model_name_or_path": "somebody/another-model",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    stem = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    generator = np.random.default_rng(1)
    sides = {"A": (4, 64), "B": (64, 4)}
    tensors = {
        f"{stem}{side}.weight": generator.standard_normal(shape, dtype=np.float32)
        for side, shape in sides.items()
    }
    save_file(tensors, folder / "adapter_model.safetensors")
    return folder
