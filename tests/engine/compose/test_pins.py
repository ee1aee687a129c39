"""Stacks under keys: one stack per key, one key per stack, and a pin follows its stack."""

import pytest

from veneer import Workspace
from veneer.errors import NotFound, UsageError


def test_a_stack_has_one_key_and_a_key_one_stack(workspace: Workspace):
    workspace.pins.pin("pirates", 1)
    workspace.pins.pin("objects", 2)
    workspace.pins.pin("pirates", 2)
    assert workspace.pins.all() == {2: "pirates"}
    workspace.pins.unpin("pirates")
    assert workspace.pins.all() == {}


def test_a_pin_follows_its_stack(workspace: Workspace):
    workspace.pins.pin("pirates", 3)
    workspace.compose("smol", [("pirate", 0.5)], name="pirates")
    assert workspace.pins.all() == {3: "pirates"}
    workspace.stacks.rename("pirates", "sailors")
    assert workspace.pins.all() == {3: "sailors"}
    workspace.stacks.forget("sailors")
    assert workspace.pins.all() == {}


def test_what_cannot_be_pinned_is_said(workspace: Workspace):
    with pytest.raises(NotFound, match="no stack called “nothing”"):
        workspace.pins.pin("nothing", 1)
    with pytest.raises(UsageError, match="1 to 9, not to 10"):
        workspace.pins.pin("pirates", 10)
    assert workspace.pins.all() == {}
