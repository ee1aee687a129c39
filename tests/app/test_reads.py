"""What the window reads of a workspace in which not all can be read."""

from pathlib import Path

from tests.engine.damage import cut_short, manifest_of
from veneer import Workspace
from veneer_app import reads


def test_a_bad_manifest_of_what_is_active_hides_no_other_stack(root: Path) -> None:
    with Workspace.open(root) as workspace:
        number = workspace.journal.request(workspace.stacks.find("pirates").id, "window")
        workspace.journal.commit(number, {})
        cut_short(manifest_of(workspace, "pirates"))
    with Workspace.open(root) as again:
        assert again.recovery.replaced is not None
        now = reads.stacks(again)
        assert [stack.name for stack in now.saved] == ["both", "objects", "plain"]
        assert now.active is None
        assert [choice.title for choice in reads.choices(again)] == ["smol", "both", "objects"]
        assert [past.active for past in reads.generations(again)] == [True]
