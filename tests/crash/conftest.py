"""Shared stock, and the one line that says how much was tried."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.scenarios import Given, make_files, make_stock
from tests.crash.tally import TALLY
from tests.crash.trial import Room

IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder in which syncing takes no time, where the system has one: the disk is modelled."""
    where = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def given(memory: Path) -> Given:
    given = Given(memory / "stock", memory / "files")
    given.files.mkdir()
    make_files(given.files)
    make_stock(given.stock, given.files)
    return given


@pytest.fixture
def room(memory: Path) -> Iterator[Room]:
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Room(Path(folder))


def pytest_terminal_summary(terminalreporter) -> None:
    if TALLY.points or TALLY.cuts:
        terminalreporter.write_line(str(TALLY))
