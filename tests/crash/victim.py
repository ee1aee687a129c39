"""`python -m tests.crash.victim`: processes that use a workspace until they are killed.

A line on standard input is a `Job` as JSON. For each a process is forked, with a real worker of
its own, which says on standard output what it is about to do and what it has done.
"""

import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STACKS = ("plain", "first", "second", "both")
IDS = (5, 6, 7)


def say(**words: Any) -> None:
    os.write(1, json.dumps(words).encode() + b"\n")


def halt_at(place: str) -> None:
    """Stop for good right before or right after a step of an activation."""
    from veneer.activation import activator, running

    original = running.step

    def pass_by(here: str) -> None:
        if here == place:
            say(halted=here)
            signal.pause()

    @contextmanager
    def step(timings, name) -> Iterator[None]:
        pass_by(f"before {name}")
        with original(timings, name):
            yield
        pass_by(f"after {name}")

    running.step = activator.step = step


class Victim:
    """Does one thing after another in a workspace, and says so."""

    def __init__(self, workspace, files: str, seed: int) -> None:
        from pathlib import Path

        self._workspace = workspace
        self._files = Path(files)
        self._chance = random.Random(seed)

    def facts(self) -> tuple[str | None, list[str]]:
        workspace = self._workspace
        active = workspace.journal.active()
        named = workspace.library.named() + workspace.stacks.named()
        return active.composition if active else None, sorted(str(n) for n in named if n.name)

    def activate(self, stack: str) -> None:
        _, names = self.facts()
        say(going=(self._workspace.stacks.find(stack).id, names))
        self._workspace.activate(stack)
        say(done=self.facts())

    def anything(self) -> None:
        self._chance.choice([self._switch, self._switch, self._compose, self._come_and_go])()

    def _switch(self) -> None:
        self.activate(self._chance.choice(STACKS))

    def _compose(self) -> None:
        active, names = self.facts()
        name = f"new-{self._chance.randrange(10)}"
        say(going=(active, sorted({*names, f"composition:{name}"})))
        self._workspace.compose("tiny", [("one", self._chance.random())], name=name)
        say(done=self.facts())

    def _come_and_go(self) -> None:
        active, names = self.facts()
        if "adapter:three" in names:
            say(going=(active, sorted({*names} - {"adapter:three"})))
            self._workspace.forget("adapter:three")
        else:
            say(going=(active, sorted({*names, "adapter:three"})))
            self._workspace.import_path(self._files / "three")
        say(done=self.facts())


def use(job: dict[str, Any]) -> None:
    """Until killed; or up to one step of one activation, and there until killed."""
    from pathlib import Path

    from veneer import Workspace

    with Workspace.open(Path(job["root"])) as workspace:
        victim = Victim(workspace, job["files"], job["seed"])
        say(done=victim.facts())
        if job["halt"]:
            halt_at(job["halt"])
            victim.activate("both")
            return
        while True:
            victim.anything()


def survive(job: dict[str, Any]) -> None:
    """Switch until the input of this process ends, whatever becomes of its workers."""
    from pathlib import Path

    from veneer import Workspace
    from veneer.activation import strikes
    from veneer.errors import VeneerError

    strikes._FIRST_PAUSE = 0.01
    chance, known = random.Random(job["seed"]), {}
    with Workspace.open(Path(job["root"])) as workspace:
        while True:
            code = None
            try:
                workspace.activate(chance.choice(STACKS))
                pid = workspace._runtime.pid
                say(worker=pid)
                answer = workspace.logits(IDS).tobytes()
            except VeneerError as error:
                code = error.full_code
            else:
                active = workspace.journal.active().composition
                assert known.setdefault(active, answer) == answer, "another composition answered"
            say(ended=code)


def main() -> None:
    import veneer.workspace  # noqa: F401 - loaded once for all that are forked

    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            status = 1
            try:
                survive(job) if job["survive"] else use(job)
                status = 0
            except BaseException:  # noqa: BLE001 - nothing may return to the parent's loop
                traceback.print_exc()
            os._exit(status)
        say(pid=pid)
        _, status = os.waitpid(pid, 0)
        say(status=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
