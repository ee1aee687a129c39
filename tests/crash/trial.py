"""Running something in a workspace while something else happens to it."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.crash.disk import Disk, Loss
from tests.crash.points import Points, PowerCut, changes, watched_database
from tests.crash.scripted import ScriptedRuntime
from tests.engine.faults import Call, ShortWriteError, WatchedFs
from veneer import Workspace

Act = Callable[[Workspace], object]


@contextmanager
def opened(
    root: Path, points: Points | None = None, after: Callable[[Call], None] = lambda call: None
) -> Iterator[Workspace]:
    """A workspace with a scripted worker, in which every operation is a point."""
    points = points or Points()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veneer.workspace.Database", watched_database(points))
        patch.setattr("veneer.workspace.RuntimeClient", partial(ScriptedRuntime, points))
        patch.setattr("veneer.activation.strikes._FIRST_PAUSE", 0.0)
        with Workspace.open(root, fs=WatchedFs(points.pass_by, after)) as workspace:
            yield workspace


class Room:
    """Where trials take place: one workspace at one path, laid out anew for each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root = path / "workspace"

    def lay_out(self, source: Path | None) -> Path:
        """Make the workspace a copy of `source`, or nothing."""
        shutil.rmtree(self.root, ignore_errors=True)
        if source is not None:
            shutil.copytree(source, self.root)
        return self.root

    def cut(
        self, source: Path | None, act: Act, at: int, losses: tuple[Loss, ...]
    ) -> dict[Loss, Path] | None:
        """Cut the power at the change number `at`; what may be found then, by kind of loss.

        Losses that leave the same are given once. None if it was done before that.
        """
        self.lay_out(source)
        shutil.rmtree(self.path / "found", ignore_errors=True)
        shutil.rmtree(self.path / "vault", ignore_errors=True)
        (self.path / "found").mkdir()
        found = {loss: self.path / "found" / loss for loss in losses}
        self.root.mkdir(mode=0o700, exist_ok=True)
        disk = Disk(self.root, self.path / "vault")

        def happening(call: Call) -> None:
            for loss, path in found.items():
                disk.leave(path, loss, seed=at)
            points.cut()

        points = Points(happening, at, which=changes)

        with suppress(PowerCut), opened(self.root, points, disk.after) as workspace:
            act(workspace)
        # Of losses that leave the same, the first.
        different = {_contents(path): loss for loss, path in reversed(found.items())}
        return {loss: found[loss] for loss in different.values()} if points.reached else None


def _contents(root: Path) -> frozenset[tuple[str, bytes]]:
    files = [path for path in root.rglob("*") if path.is_file()]
    folders = [path for path in root.rglob("*") if path.is_dir()]
    return frozenset(
        [(str(p.relative_to(root)), p.read_bytes()) for p in files]
        + [(str(p.relative_to(root)), b"") for p in folders]
    )


def failing(number: int, *, short: bool = False) -> Callable[[Call], None]:
    """The operating system says no; a short write says so after half of it."""

    def happening(call: Call) -> None:
        kind = ShortWriteError if short and call.operation == "write" else OSError
        raise kind(number, os.strerror(number))

    return happening


FAULTS: dict[str, tuple[int, bool, bool]] = {
    "bad sector": (errno.EIO, False, False),
    "dead disk": (errno.EIO, True, False),
    "full for a moment": (errno.ENOSPC, False, False),
    "full in the middle of a write": (errno.ENOSPC, True, True),
    "not allowed": (errno.EACCES, False, False),
    "read-only from now on": (errno.EROFS, True, False),
}
"""Name -> error number, whether it lasts, whether half of a write arrives."""
