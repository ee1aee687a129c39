"""What people do to a workspace, each as one entry of a table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.crash.trial import opened
from tests.engine.adapters import tiny
from veneer import Workspace
from veneer.identity import PREFIX


def nothing(root: Path) -> None:
    """As it is."""


@dataclass(frozen=True)
class Given:
    """A stocked workspace, to be copied, and files that are not in it yet.

    The workspace holds a base and the adapters “one” and “two”, and runs “first” (the adapter
    “one”) after “plain” (the base alone). “both” was never run.
    """

    stock: Path
    files: Path


@dataclass(frozen=True)
class Scenario:
    """Something done to the stocked workspace, or to none at all, after it was `arranged`.

    `by_itself` is what opening does unasked: if it cannot be done, nobody is told, and it is left
    for the next time.
    """

    name: str
    act: Callable[[Workspace, Path], object]
    arranged: Callable[[Path], None] = nothing
    stocked: bool = True
    by_itself: bool = False


def damage(root: Path, stack: str) -> None:
    """Flip a bit in the weights of a stack's first adapter."""
    with opened(root) as workspace:
        ref = workspace.stacks.find(stack).manifest.composition.adapters[0]
        files = workspace.library.adapter(ref.digest).files
    name = files["adapter_model.safetensors"].removeprefix(PREFIX)
    path = root / "objects" / name[:2] / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def forget_one(root: Path, *, mark: bool = False) -> None:
    """Leave an adapter's files and a composition behind that nobody needs."""
    with opened(root) as workspace:
        workspace.compose("tiny", [("two", 2.0)])
        workspace.forget("composition:both")
        workspace.forget("composition:second")
        workspace.forget("adapter:two")
        if mark:
            workspace.gc()


SCENARIOS = (
    Scenario("open a new workspace", lambda ws, files: None, stocked=False),
    Scenario("import a base", lambda ws, files: ws.import_path(files / "other.gguf", copy=True)),
    Scenario("link a base", lambda ws, files: ws.import_path(files / "other.gguf")),
    Scenario("import an adapter", lambda ws, files: ws.import_path(files / "three")),
    Scenario(
        "import a damaged adapter again",
        lambda ws, files: ws.import_path(files / "two"),
        lambda root: damage(root, "second"),
    ),
    Scenario("compose", lambda ws, files: ws.compose("tiny", [("two", 0.5)], name="new")),
    Scenario("activate", lambda ws, files: ws.activate("both")),
    Scenario("activate a base alone", lambda ws, files: ws.activate("tiny")),
    Scenario("roll back", lambda ws, files: ws.rollback()),
    Scenario("mark what nothing needs", lambda ws, files: ws.gc(), forget_one),
    Scenario(
        "collect what nothing needs",
        lambda ws, files: ws.gc(grace=timedelta(0)),
        lambda root: forget_one(root, mark=True),
    ),
    Scenario(
        "repair",
        lambda ws, files: ws.fsck(repair=True),
        lambda root: damage(root, "second"),
    ),
    Scenario(
        "replace what is active and damaged",
        lambda ws, files: None,
        lambda root: damage(root, "first"),
        by_itself=True,
    ),
)


def make_files(folder: Path) -> None:
    """Two bases and three adapters for the first of them."""
    (folder / "tiny.gguf").write_bytes(tiny.base_bytes())
    (folder / "other.gguf").write_bytes(tiny.base_bytes({"general.name": "Other"}))
    for seed, name in enumerate(("one", "two", "three")):
        (folder / name).mkdir()
        for file, data in tiny.peft_files(tiny.factors(seed=seed)).items():
            (folder / name / file).write_bytes(data)


def make_stock(root: Path, files: Path) -> None:
    """See `Given`."""
    with opened(root) as workspace:
        workspace.import_path(files / "tiny.gguf", name="tiny")
        for name in ("one", "two"):
            workspace.import_path(files / name)
        workspace.compose("tiny", name="plain")
        workspace.compose("tiny", [("one", 1.0)], name="first")
        workspace.compose("tiny", [("two", 1.0)], name="second")
        workspace.compose("tiny", [("one", 1.0), ("two", 0.5)], name="both")
        workspace.activate("plain")
        workspace.activate("first")
