"""Events in any order, cuts among them, against a model of what must be true after each."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from tests.crash.checks import facts_of, require_answers, require_whole
from tests.crash.disk import LOSSES
from tests.crash.model import ADAPTERS, RECIPES, Committed, Expected, Model
from tests.crash.scenarios import Given
from tests.crash.tally import TALLY
from tests.crash.trial import Room, opened
from veneer import Workspace
from veneer.errors import Damaged, VeneerError, WorkspaceBusy
from veneer.identity import PREFIX, Digest

pytestmark = pytest.mark.crash

MINE = ("mine", "other")
STACKS = ("plain", "first", "second", "both", *MINE)


@dataclass(frozen=True)
class Event:
    """Something done to a workspace, and what becomes of the model by it."""

    name: str
    act: Callable[[Workspace, Path], object]
    then: Callable[[Model], Model]

    def __repr__(self) -> str:
        return self.name


def importing(adapter: str) -> Event:
    return Event(
        f"import {adapter}",
        lambda ws, files: ws.import_path(files / adapter),
        lambda model: model.imported(adapter),
    )


def forgetting(adapter: str) -> Event:
    return Event(
        f"forget {adapter}",
        lambda ws, files: ws.forget(f"adapter:{adapter}"),
        lambda model: model.forgotten(adapter),
    )


def composing(stack: str, recipe: str) -> Event:
    return Event(
        f"compose {stack} as {recipe}",
        lambda ws, files: ws.compose("tiny", RECIPES[recipe], name=stack),
        lambda model: model.composed(stack, recipe),
    )


def unnaming(stack: str) -> Event:
    return Event(
        f"remove {stack}",
        lambda ws, files: ws.forget(f"composition:{stack}"),
        lambda model: model.unnamed(stack),
    )


def activating(stack: str) -> Event:
    return Event(
        f"activate {stack}",
        lambda ws, files: ws.activate(f"composition:{stack}"),
        lambda model: model.activated(stack),
    )


def collect(workspace: Workspace) -> None:
    """Mark what nothing needs, and remove it."""
    workspace.gc(grace=timedelta(0))
    workspace.gc(grace=timedelta(0))


EVENTS = (
    st.sampled_from(ADAPTERS).map(importing)
    | st.sampled_from(ADAPTERS).map(forgetting)
    | st.builds(composing, st.sampled_from(MINE), st.sampled_from(tuple(RECIPES)))
    | st.sampled_from(STACKS).map(unnaming)
    | st.sampled_from(STACKS).map(activating)
    | st.just(Event("collect", lambda ws, files: collect(ws), lambda model: model))
    | st.just(Event("roll back", lambda ws, files: ws.rollback(), Model.rolled_back))
)


class Machine(RuleBasedStateMachine):
    """One workspace, open all the time but for the moments between a cut and the next start."""

    given: ClassVar[Given]
    ids: ClassVar[dict[str, Digest]]
    weights: ClassVar[dict[str, str]]
    folder: ClassVar[Path]

    @initialize()
    def begin(self) -> None:
        self.model = Model(
            history=(Committed("plain"), Committed("first")),
            adapters=frozenset({"one", "two"}),
            stacks=tuple((name, name) for name in ("both", "first", "plain", "second")),
        )
        self.room = Room(Path(tempfile.mkdtemp(dir=self.folder)))
        self.room.lay_out(self.given.stock)
        self.open()

    def open(self) -> None:
        self.stack = ExitStack()
        self.workspace = self.stack.enter_context(opened(self.room.root))

    def teardown(self) -> None:
        self.stack.close()
        shutil.rmtree(self.room.path)

    @rule(event=EVENTS)
    def happens(self, event: Event) -> None:
        try:
            then = event.then(self.model)
        except Expected as expected:
            with pytest.raises(expected.kinds):
                event.act(self.workspace, self.given.files)
        else:
            event.act(self.workspace, self.given.files)
            self.model = then

    @rule(event=EVENTS, at=st.integers(1, 30), loss=st.sampled_from(LOSSES))
    def is_cut_off(self, event: Event, at: int, loss) -> None:
        """The power goes at the beginning of an event, in it, or after it."""
        self.stack.close()
        before = self.room.root.rename(self.room.path / "before")
        old, new = self.model.reopened(), self.model.reopened()
        with suppress(Expected):
            new = event.then(old).reopened()
        found = self.room.cut(before, self.attempt(event), at, (loss,))
        if found is not None:
            TALLY.points += 1
            self.room.lay_out(found[loss])
        shutil.rmtree(before)
        self.open()
        # What was damaged may have been healed before the cut, and nothing else was.
        harmed = frozenset(adapter for adapter in old.harmed if not self.is_sound(adapter))
        possible = (replace(new, harmed=harmed), replace(old, harmed=harmed))
        self.model = possible[0] if found is None or self.agrees(possible[0]) else possible[1]
        TALLY.survived += found is not None

    def attempt(self, event: Event) -> Callable[[Workspace], None]:
        def act(workspace: Workspace) -> None:
            try:
                event.act(workspace, self.given.files)
            except VeneerError:
                with pytest.raises(Expected):
                    event.then(self.model.reopened())

        return act

    @precondition(lambda self: self.model.adapters - self.model.harmed)
    @rule(data=st.data())
    def decays(self, data) -> None:
        """A bit of an adapter's weights flips."""
        sound = sorted(self.model.adapters - self.model.harmed)
        adapter = data.draw(st.sampled_from(sound))
        name = self.weights[adapter]
        path = self.room.root / "objects" / name[:2] / name
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        self.model = self.model.corrupted(adapter)

    @rule()
    def reopens(self) -> None:
        self.stack.close()
        self.open()
        self.model = self.model.reopened()

    @rule()
    def a_second_process_comes(self) -> None:
        """It may look, and not write."""
        with pytest.raises(WorkspaceBusy, match="in use by"):
            Workspace.open(self.room.root)
        with Workspace.open(self.room.root, writable=False) as reader:
            assert facts_of(reader) == facts_of(self.workspace)

    @invariant()
    def everything_is_as_it_must_be(self) -> None:
        assert self.agrees(self.model)
        require_whole(self.workspace, self.model.harmed)
        try:
            require_answers(self.workspace)
        except Damaged:
            assert not self.model.intact(self.model.active)

    def agrees(self, model: Model) -> bool:
        facts = facts_of(self.workspace)
        named = {"base:tiny", *(f"adapter:{a}" for a in model.adapters)}
        named |= {f"composition:{stack}" for stack, _ in model.stacks}
        return (
            facts.active == self.ids[model.active]
            and facts.names == named
            and all(self.is_sound(a) != (a in model.harmed) for a in model.adapters)
            and all(self.means(stack) == self.ids[recipe] for stack, recipe in model.stacks)
        )

    def is_sound(self, adapter: str) -> bool:
        name = self.weights[adapter]
        path = self.room.root / "objects" / name[:2] / name
        return path.exists() and sha256(path.read_bytes()).hexdigest() == name

    def means(self, stack: str) -> Digest:
        return self.workspace.stacks.find(f"composition:{stack}").id


@pytest.fixture
def machine(given: Given, memory: Path) -> Iterator[type[Machine]]:
    """The machine, told the ids of every recipe and the objects of every adapter."""
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        Machine.given, Machine.folder = given, Path(folder)
        with opened(Room(Path(folder)).lay_out(given.stock)) as workspace:
            workspace.import_path(given.files / "three")
            Machine.ids = {
                name: workspace.compose("tiny", layers).value.id for name, layers in RECIPES.items()
            }
            Machine.weights = {
                a.name: a.files["adapter_model.safetensors"].removeprefix(PREFIX)
                for a in workspace.library.adapters()
            }
        yield Machine


def test_events_in_any_order(machine: type[Machine]):
    TALLY.scenarios.add("any order")
    few = settings(
        max_examples=40,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        # A shorter example is not worth the minutes: the events are printed.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_machine(machine, settings=few)
