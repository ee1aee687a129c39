"""One workspace and one worker for all the tests that only talk."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from veneer import Workspace


@pytest.fixture(scope="module")
def talking(stocked: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A stocked workspace; its worker stays from test to test."""
    root = tmp_path_factory.mktemp("talking") / "workspace"
    shutil.copytree(stocked, root)
    with Workspace.open(root) as opened:
        yield opened
