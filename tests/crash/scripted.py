"""A worker that does what it is told at once, in this process, and computes nothing.

Its logits after any tokens are the bytes of the composition that answers. It reads the files of a
plan as strictly as llama.cpp would.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.crash.points import Points
from tests.engine.faults import Call
from veneer.compose.plan import RuntimePlan
from veneer.errors import NothingActive, RuntimeCrashed
from veneer.formats import gguf
from veneer.identity import Digest, hex_of
from veneer.runtime.protocol import Ready


def answer_of(composition: Digest) -> np.ndarray:
    """What the worker answers under a composition."""
    return np.frombuffer(bytes.fromhex(hex_of(composition)), np.uint8).astype(np.float32)


class ScriptedRuntime:
    """Stands in for `RuntimeClient`; asking it to stage or to publish is a point."""

    pid = None
    answering = False

    def __init__(self, points: Points, log: Path) -> None:
        self.log = log
        self._points = points
        self._staged: RuntimePlan | None = None
        self._published: RuntimePlan | None = None
        self.alive = False

    def start(self) -> Ready:
        self.alive = True
        return Ready(build="scripted")

    @contextmanager
    def switching(self) -> Iterator[None]:
        yield

    def stage(self, plan, limits, cancel=None) -> dict[str, float]:
        self._pass("stage")
        for path in (plan.base_path, *(adapter.path for adapter in plan.adapters)):
            with Path(path).open("rb") as file:
                gguf.read_header(file)
        self._staged = plan
        return {}

    def publish(self, generation: int) -> None:
        self._pass("publish")
        assert self._staged is not None
        self._published, self._staged = self._staged, None

    def discard(self) -> None:
        self._staged = None

    def evaluate(self, token_ids: tuple[int, ...]) -> np.ndarray:
        if self._published is None:
            raise NothingActive("Nothing was published.")
        return answer_of(self._published.composition)

    def close(self) -> None:
        self.alive, self._staged, self._published = False, None, None

    def _pass(self, operation: str) -> None:
        if not self.alive:
            raise RuntimeCrashed("The runtime is not running.")
        try:
            self._points.pass_by(Call(operation, self.log))
        except OSError as error:
            self.close()
            raise RuntimeCrashed(f"The runtime ended while asked to {operation}.") from error
