"""What must hold of a workspace however it came to be as it is."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.crash.scripted import answer_of
from tests.crash.trial import opened
from veneer import Workspace
from veneer.activation.recovery import Recovery
from veneer.identity import Digest

LACKING = frozenset({"OBJECT_DAMAGED", "FILES_MISSING"})
"""What a check finds where an object was damaged before."""
WAYS = {
    "COMMITTED": [["REQUESTED", "VALIDATED", "STAGED", "COMMITTED"]],
    "ABORTED": [
        ["REQUESTED", "ABORTED"],
        ["REQUESTED", "VALIDATED", "ABORTED"],
        ["REQUESTED", "VALIDATED", "STAGED", "ABORTED"],
    ],
}


@dataclass(frozen=True)
class Facts:
    """What a person sees of a workspace: what is active, and what there is by name."""

    active: Digest | None
    names: frozenset[str]


def facts_of(workspace: Workspace) -> Facts:
    """Read them."""
    active = workspace.journal.active()
    named = workspace.library.named() + workspace.stacks.named()
    return Facts(active.composition if active else None, frozenset(str(n) for n in named if n.name))


def damaged(root: Path) -> frozenset[str]:
    """The objects that do not hash to their name."""
    files = [path for path in (root / "objects").rglob("*") if path.is_file()]
    return frozenset(
        path.name for path in files if hashlib.sha256(path.read_bytes()).hexdigest() != path.name
    )


def leftovers(root: Path) -> list[Path]:
    """Files that were being written."""
    return list(root.rglob("*.part"))


def require_sound(root: Path, harmed: frozenset[str] = frozenset()) -> Facts:
    """Open the workspace, look at all of it, and use it; gives what a person sees.

    `harmed` are the objects that were damaged before.
    """
    with opened(root) as workspace:
        facts = facts_of(workspace)
        assert leftovers(root) == []
        assert damaged(root) <= harmed
        require_whole(workspace, harmed)
        require_answers(workspace)
    with opened(root) as again:
        assert again.recovery == Recovery()
        assert facts_of(again) == facts
    return facts


def require_whole(workspace: Workspace, harmed: frozenset[str] = frozenset()) -> None:
    """The product's own check finds nothing, and every generation came about in order."""
    database = workspace.journal._database
    assert [row[0] for row in database.rows("PRAGMA integrity_check")] == ["ok"]
    assert database.rows("PRAGMA foreign_key_check") == []
    assert workspace.journal.unfinished() == ()
    for generation in workspace.journal.all():
        assert [t.state for t in generation.transitions] in WAYS[generation.state]
    for row in database.rows("SELECT id FROM compositions"):
        assert workspace.stacks.get(row["id"]).manifest.id == row["id"]
    found = workspace.fsck().value.findings
    lacking = LACKING if harmed else frozenset()
    assert [f for f in found if not f.ok and f.code not in lacking] == []


def require_answers(workspace: Workspace) -> None:
    """What is active answers, and nothing else does."""
    active = workspace.journal.active()
    if active is not None:
        assert active.state == "COMMITTED"
        np.testing.assert_array_equal(workspace.logits((1,)), answer_of(active.composition))
