"""The model of a disk itself: it must lose what was not made safe, and nothing else."""

from itertools import count
from pathlib import Path

import pytest

from tests.crash.checks import require_sound
from tests.crash.disk import LOSSES, Disk, Loss
from tests.crash.scenarios import Given
from tests.crash.trial import Room
from tests.engine.faults import WatchedFs
from veneer.errors import VeneerError
from veneer.store.draft import Draft

pytestmark = pytest.mark.crash

DATA = b"x" * 3000


def left(folder: Path, loss: Loss, steps: int) -> dict[str, bytes]:
    """What is found of a file that was published up to this step: 5 are all of them."""
    root = folder / "root"
    root.mkdir()
    (root / "old").write_bytes(b"old")
    disk = Disk(root, folder / "vault")
    fs = WatchedFs(lambda call: None, disk.after)
    draft = fs.create(root / "draft")
    doing = (
        lambda: fs.write(draft, DATA),
        draft.flush,
        lambda: fs.sync(draft),
        lambda: fs.replace(root / "draft", root / "old"),
        lambda: fs.sync_dir(root),
    )
    for do in doing[:steps]:
        do()
    disk.leave(folder / "found", loss)
    draft.close()
    return {path.name: path.read_bytes() for path in (folder / "found").iterdir()}


@pytest.mark.parametrize(
    ("loss", "steps", "found"),
    [
        ("killed", 1, {"old": b"old", "draft": b""}),
        ("killed", 2, {"old": b"old", "draft": DATA}),
        ("lost", 3, {"old": b"old"}),
        ("empty", 2, {"old": b"old", "draft": b""}),
        ("zeroes", 2, {"old": b"old", "draft": bytes(3000)}),
        ("torn", 2, {"old": b"old", "draft": b"x" * 1024}),
        ("torn", 3, {"old": b"old", "draft": DATA}),
        ("lost", 4, {"old": b"old"}),
        ("killed", 4, {"old": DATA}),
        *((loss, 5, {"old": DATA}) for loss in LOSSES),
    ],
)
def test_what_is_safe_stays_and_the_rest_is_lost(
    tmp_path: Path, loss: Loss, steps: int, found: dict[str, bytes]
):
    assert left(tmp_path, loss, steps) == found


def hasty(draft: Draft, target: Path) -> None:
    """Publishing without making the bytes safe."""
    draft.file.close()
    draft._fs.make_dirs(target.parent)
    draft._fs.replace(draft.path, target)
    draft._published = True
    draft._fs.sync_dir(target.parent)


def test_a_store_that_forgets_to_sync_is_found_out(
    given: Given, room: Room, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Draft, "publish", hasty)
    with pytest.raises((AssertionError, VeneerError)):
        for at in count(1):
            found = room.cut(
                given.stock, lambda ws: ws.import_path(given.files / "three"), at, ("zeroes",)
            )
            if found is None:
                break
            require_sound(room.lay_out(found["zeroes"]))
