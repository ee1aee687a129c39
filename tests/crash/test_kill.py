"""Real processes, killed with no warning at named steps and at random times.

The process that switches, a `veneer` command, a window that carries out a command, and workers.
`VENEER_CRASH_CUTS` is how many are killed. What was in memory is lost, what was written is not:
this shows that things are done in the right order, and `test_scenarios` that they are durable.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.crash.checks import Facts, require_sound
from tests.crash.scenarios import Given, make_files, make_stock
from tests.crash.tally import TALLY
from tests.crash.victim import STACKS
from tests.engine.runtime.test_small_bases import base_bytes
from veneer import Workspace

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(sys.platform == "win32", reason="forks, and signals are POSIX's"),
]

CUTS = int(os.environ.get("VENEER_CRASH_CUTS", "40"))
STEPS = ("request", "validate", "admit", "start", "plan", "stage", "commit", "publish")
PLACES = tuple(f"{when} {step}" for step in STEPS for when in ("before", "after"))
COMMITTED = ("after commit", "before publish", "after publish")
COMMANDS, WINDOWS, WORKERS = (max(2, CUTS // share) for share in (10, 20, 5))
RANDOM = max(0, CUTS - len(PLACES) - COMMANDS - WINDOWS - WORKERS)
VENEER = [sys.executable, "-c", "from veneer_app.entry import main; main()"]
LONG = 60.0


class Yard:
    """The process that forks the victims, and what they say."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.victim"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.pid = 0

    def start(self, root: Path, files: Path, **job: Any) -> None:
        whole = {"root": str(root), "files": str(files), "seed": 0, "halt": "", "survive": False}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(whole | job) + "\n")
        while not self.pid:
            self.pid = self.hear().get("pid", 0)

    def hear(self) -> dict[str, Any]:
        """The next thing that is said."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the victims' parent has ended"
        return json.loads(line)

    def kill(self) -> list[dict[str, Any]]:
        """Kill the victim; gives what it had said that was not heard."""
        family = psutil.Process(self.pid).children(recursive=True)
        os.kill(self.pid, signal.SIGKILL)
        said = []
        while "status" not in (word := self.hear()):
            said.append(word)
        assert word["status"] == -signal.SIGKILL
        require_gone(family)
        self.pid = 0
        TALLY.cuts += 1
        return said

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def require_gone(family: list[psutil.Process]) -> None:
    """Whoever worked for the dead ends too."""
    _, alive = psutil.wait_procs(family, timeout=LONG)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


@pytest.fixture(scope="module")
def yard() -> Iterator[Yard]:
    yard = Yard()
    yield yard
    yard.close()


@pytest.fixture(scope="module")
def real(memory: Path) -> Given:
    """The stock on a base that llama.cpp can run."""
    folder = memory / "real"
    given = Given(folder / "stock", folder / "files")
    given.files.mkdir(parents=True)
    make_files(given.files)
    (given.files / "tiny.gguf").write_bytes(base_bytes(context=512))
    make_stock(given.stock, given.files)
    return given


@pytest.fixture
def root(real: Given, memory: Path) -> Iterator[Path]:
    copy = memory / "victim"
    shutil.copytree(real.stock, copy)
    yield copy
    shutil.rmtree(copy)


def facts(said: tuple[str | None, list[str]]) -> Facts:
    active, names = said
    return Facts(active, frozenset(names))


@pytest.mark.parametrize("place", PLACES)
def test_killed_at_a_step_of_an_activation(yard: Yard, real: Given, root: Path, place: str):
    yard.start(root, real.files, halt=place)
    before = facts(yard.hear()["done"])
    after = facts(yard.hear()["going"])
    assert yard.hear() == {"halted": place}
    yard.kill()
    assert before != after
    assert require_sound(root) == (after if place in COMMITTED else before)


def test_killed_at_random_times(yard: Yard, real: Given, root: Path):
    chance = random.Random(CUTS)
    known = require_sound(root)
    for cut in range(RANDOM):
        yard.start(root, real.files, seed=cut)
        said = [yard.hear()] if cut % 2 else []
        time.sleep(chance.uniform(0.0, 1.5))
        for word in said + yard.kill():
            known = facts(word["done"]) if "done" in word else known
            possible = {known, facts(word["going"])} if "going" in word else {known}
        found = require_sound(root)
        assert found in possible
        known = found


def test_a_command_killed_at_random_times(real: Given, root: Path):
    chance = random.Random(CUTS)
    landed = 0
    for _ in range(5 * COMMANDS):
        before, stack = require_sound(root).active, chance.choice(STACKS)
        command = start(root, "activate", stack)
        time.sleep(chance.uniform(0.2, 2.0))
        landed += killed(command)
        assert require_sound(root).active in {before, id_of(root, stack)}
        if landed == COMMANDS:
            return
    pytest.fail("too few commands were killed before they had ended")


def test_a_window_killed_while_it_carries_out_a_command(real: Given, root: Path):
    chance = random.Random(CUTS)
    for _ in range(WINDOWS):
        before, stack = require_sound(root).active, chance.choice(STACKS)
        window = start(root)
        until((root / "control.json").exists)
        command = start(root, "activate", stack)
        time.sleep(chance.uniform(0.2, 2.0))
        assert killed(window)
        _, error = command.communicate(timeout=LONG)
        found = require_sound(root).active
        # A command that was not begun in the window is carried out by the command itself.
        assert found == id_of(root, stack) if command.returncode == 0 else found in {
            before, id_of(root, stack)
        }  # fmt: skip
        assert command.returncode == 0 or error.startswith("error[CONTROL]"), error


def test_workers_killed_at_random_times(yard: Yard, real: Given, root: Path):
    chance = random.Random(CUTS)
    yard.start(root, real.files, survive=True)
    landed, ended = 0, set()
    while landed < WORKERS:
        word = yard.hear()
        if "ended" in word:
            ended.add(word["ended"])
        elif word["worker"] is not None:
            time.sleep(chance.uniform(0.0, 0.1))
            landed += killed_worker(word["worker"])
    yard.kill()
    TALLY.cuts += landed
    assert ended <= {None, "RUNTIME_CRASHED", "FELL_BACK", "SUSPECT"}
    assert {None, "RUNTIME_CRASHED"} <= ended
    require_sound(root)


def start(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*VENEER, "--workspace", str(root), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def killed(process: subprocess.Popen[str]) -> bool:
    """Kill it; gives whether it had not ended by itself."""
    with suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        require_gone(family)
    process.communicate()
    landed = process.returncode == -signal.SIGKILL
    TALLY.cuts += landed
    return landed


def killed_worker(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def id_of(root: Path, stack: str) -> str:
    with Workspace.open(root, writable=False) as workspace:
        return workspace.stacks.find(stack).id


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)
