"""Pictures: one of every scene, and every look of one scene."""

import shutil
from pathlib import Path

import pytest

from veneer_app.qt import Qt, QtGui, QtWidgets
from veneer_app.shots import render, scenes
from veneer_app.shots.looks import LOOKS, Look
from veneer_app.shots.scenes import Scene
from veneer_app.theme import tokens

PLACES = ("chat", "library", "stacks", "history", "settings")


@pytest.fixture
def workspace(stocked: Path, tmp_path: Path) -> Path:
    shutil.copytree(stocked, tmp_path / "workspace")
    return tmp_path / "workspace"


def _look(name: str) -> Look:
    return next(look for look in LOOKS if look.name == name)


def test_every_place_is_rendered_in_every_state(
    workspace: Path, tmp_path: Path, qapp: QtWidgets.QApplication
) -> None:
    made = render.render(workspace, tmp_path / "out", [_look("light")])
    pictures = {path.read_bytes(): path.name for path in made}
    # Nothing was active in this workspace.
    assert {path.name for path in made} - set(pictures.values()) == {"history-light.png"}
    names = {path.name for path in made}
    assert {f"{place}-{state}-light.png" for place in PLACES for state in ("full", "empty")} < names
    assert {f"{place}-light.png" for place in PLACES} < names
    for place in ("chat", "library", "stacks", "history"):
        assert f"{place}-long-light.png" in names
    for state in ("chat-busy", "chat-error", "chat-compare", "library-busy", "stacks-error"):
        assert f"{state}-light.png" in names


def test_a_scene_is_rendered_in_every_look(
    workspace: Path,
    tmp_path: Path,
    qapp: QtWidgets.QApplication,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scenes, "of_workspace", lambda: (Scene("stacks"),))
    monkeypatch.setattr(scenes, "of_nothing", tuple)
    whole = [look for look in LOOKS if look.scale == 1]
    made = render.render(workspace, tmp_path / "out", whole)
    images = {path.stem: QtGui.QImage(str(path)) for path in made}
    light, rtl = images["stacks-light"], images["stacks-rtl"]
    assert light.pixelColor(4, 790) == QtGui.QColor(tokens.LIGHT.rail)
    assert images["stacks-dark"].pixelColor(4, 790) == QtGui.QColor(tokens.DARK.rail)
    assert rtl.pixelColor(1195, 790) == light.pixelColor(4, 790) != rtl.pixelColor(4, 790)
    assert images["stacks-small"].size().toTuple() == (880, 560)
    assert qapp.layoutDirection() == Qt.LayoutDirection.LeftToRight
