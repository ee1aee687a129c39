"""Each scenario cut off and refused at every point of it, and its recovery cut off as well."""

from contextlib import ExitStack
from itertools import count

import pytest

from tests.crash.checks import Facts, damaged, facts_of, leftovers, require_answers, require_sound
from tests.crash.disk import LOSSES, Loss
from tests.crash.points import Points
from tests.crash.scenarios import SCENARIOS, Given, Scenario
from tests.crash.tally import TALLY
from tests.crash.trial import FAULTS, Room, failing, opened
from veneer import Workspace
from veneer.errors import VeneerError

pytestmark = [
    pytest.mark.crash,
    pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name),
]


class Stage:
    """A scenario's beginning, and what there is to see before it and after it."""

    def __init__(self, scenario: Scenario, given: Given, room: Room) -> None:
        TALLY.scenarios.add(scenario.name)
        self.room = room
        self.act = lambda workspace: scenario.act(workspace, given.files)
        root = room.lay_out(given.stock if scenario.stocked else None)
        if scenario.stocked:
            scenario.arranged(root)
        self.harmed = damaged(root)
        self.start = root.rename(room.path / "start") if scenario.stocked else None
        self.by_itself = scenario.by_itself
        with Workspace.open(room.lay_out(self.start), writable=False) as workspace:
            self.before = facts_of(workspace)
        with opened(room.lay_out(self.start)) as workspace:
            self.act(workspace)
            self.after = facts_of(workspace)

    def require_old_or_new(self) -> None:
        """What lies in the room is all old or all new, and sound."""
        TALLY.points += 1
        facts = require_sound(self.room.root, self.harmed)
        assert facts in (self.before, self.after)
        TALLY.survived += 1


@pytest.fixture
def stage(scenario: Scenario, given: Given, room: Room) -> Stage:
    return Stage(scenario, given, room)


def test_a_cut_at_any_change_leaves_the_old_or_the_new(stage: Stage):
    for at in count(1):
        found = stage.room.cut(stage.start, stage.act, at, LOSSES)
        if found is None:
            break
        for path in found.values():
            stage.room.lay_out(path)
            stage.require_old_or_new()
    assert at > 5
    assert facts_of_room(stage) == stage.after


def facts_of_room(stage: Stage) -> Facts:
    with opened(stage.room.root) as workspace:
        return facts_of(workspace)


def test_a_cut_at_any_change_of_the_recovery_too(stage: Stage):
    for at in count(1):
        loss: Loss = LOSSES[at % len(LOSSES)]
        found = stage.room.cut(stage.start, stage.act, at, (loss,))
        if found is None:
            break
        first = found[loss].rename(stage.room.path / f"first-{at}")
        # Every third of them, beginning elsewhere each time.
        for again in count(1 + at % 3, 3):
            second = stage.room.cut(first, lambda workspace: None, again, (loss,))
            if second is None:
                break
            stage.room.lay_out(second[loss])
            stage.require_old_or_new()
        assert again > 5
    assert at > 5


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_is_told_and_changes_nothing(stage: Stage, fault: str):
    number, lasting, short = FAULTS[fault]
    for at in count(1):
        points = Points(failing(number, short=short), at, lasting=lasting)
        run_with(stage, points)
        if not points.reached:
            break
        stage.require_old_or_new()
    assert at > 10


def run_with(stage: Stage, points: Points) -> None:
    """Do it; whoever was told of a failure finds everything as it was, and can go on."""
    with ExitStack() as stack:
        try:
            workspace = stack.enter_context(opened(stage.room.lay_out(stage.start), points))
        except VeneerError:
            assert points.reached
            return
        begun = len(workspace.journal.all())
        failed = error_of(stage, workspace)
        points.heal()
        facts = facts_of(workspace)
        if stage.by_itself and facts == stage.before:
            return
        assert facts == (stage.before if failed else stage.after), points.met
        if failed and len(workspace.journal.all()) > begun:
            assert failed.step is not None, points.met
        if points.met is not None and points.met.operation != "unlink" and not points.lasting:
            assert leftovers(workspace.root) == []
        require_answers(workspace)


def error_of(stage: Stage, workspace: Workspace) -> VeneerError | None:
    try:
        stage.act(workspace)
    except VeneerError as error:
        return error
    return None
