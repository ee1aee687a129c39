"""A worker that dies or hangs, on the real worker: who answers afterwards, and what is said."""

import os
import signal
import sys
from collections.abc import Callable

import numpy as np
import pytest

from veneer import Workspace
from veneer.activation.strikes import Strikes
from veneer.errors import FellBack, RuntimeCrashed, RuntimeTimeout, Suspect, VeneerError
from veneer.runtime import protocol
from veneer.runtime.process import Patience
from veneer.runtime.protocol import ChatMessage, Request

IDS = (19556, 665, 28, 638, 359, 346, 47)
HELLO = [ChatMessage("user", "Hello")]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


def strike_at(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, kind: type, number: int, times: int = 1
) -> None:
    """Send the worker a signal right after it is asked for this kind of thing."""
    client, left = workspace._runtime, [times]
    say: Callable[[Request], None] = client._say

    def said(request: Request) -> None:
        say(request)
        if isinstance(request, kind) and left[0]:
            left[0] -= 1
            assert client.pid is not None
            os.kill(client.pid, number)

    monkeypatch.setattr(client, "_say", said)
    monkeypatch.setattr("veneer.activation.strikes._FIRST_PAUSE", 0.01)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGABRT, RuntimeCrashed), (signal.SIGSTOP, RuntimeTimeout)]
)
def test_a_worker_lost_while_staging_leaves_the_previous_generation_answering(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: type[VeneerError],
):
    workspace.activate("plain")
    before = workspace.logits(IDS)
    workspace._runtime.patience = Patience(silence=2.0)
    strike_at(workspace, monkeypatch, protocol.Stage, number)
    with pytest.raises(error) as caught:
        workspace.activate("pirates")
    assert caught.value.step == "stage"
    assert workspace.journal.all()[0].state == "ABORTED"
    assert workspace.stacks.find("pirates").suspect is not None
    active = workspace.active()
    assert active is not None
    assert active[1].name == "plain"
    np.testing.assert_array_equal(workspace.logits(IDS), before)


def test_a_generation_that_fails_to_start_twice_gives_way_to_the_last_good_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    workspace.activate("objects")
    good = workspace.logits(IDS)
    workspace.activate("pirates")
    workspace.activator.stop()
    strike_at(workspace, monkeypatch, protocol.Stage, signal.SIGKILL, times=2)
    noticed = []
    workspace.activator.on_changes = noticed.append
    with pytest.raises(FellBack, match=r"“pirates”.*suspect.*“objects”.*generation 3"):
        workspace.talk.ask(HELLO, max_tokens=1)
    assert noticed[-1].generations == {3}
    assert workspace.stacks.find("pirates").suspect is not None
    assert workspace.journal.get(3).requested_by == "recovery"
    np.testing.assert_array_equal(workspace.logits(IDS), good)


def test_without_a_good_one_the_base_alone_takes_over_and_after_that_nothing_does(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    workspace.activate("pirates")
    workspace.activator.stop()
    strike_at(workspace, monkeypatch, protocol.Stage, signal.SIGKILL, times=2)
    with pytest.raises(FellBack):
        workspace.talk.ask(HELLO, max_tokens=1)
    active = workspace.active()
    assert active is not None
    assert active[1].name == "plain"
    workspace.activator.stop()
    strike_at(workspace, monkeypatch, protocol.Stage, signal.SIGKILL, times=9)
    with pytest.raises(Suspect, match="Nothing else could be started"):
        workspace.talk.ask(HELLO, max_tokens=1)


def test_one_lost_answer_is_forgiven(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    workspace.activate("plain")
    strike_at(workspace, monkeypatch, protocol.Generate, signal.SIGKILL)
    with pytest.raises(RuntimeCrashed, match="answering"):
        workspace.talk.ask(HELLO, max_tokens=4)
    assert workspace.talk.ask(HELLO, max_tokens=4).generation == 1
    assert workspace.stacks.find("plain").suspect is None


def test_a_step_that_takes_too_long_is_ended_though_the_process_lives(workspace: Workspace):
    workspace.activate("plain")
    workspace._runtime.patience = Patience(step=0.05)
    with pytest.raises(RuntimeTimeout, match=r"more than 0\.05 s on one step while answering"):
        workspace.talk.ask([ChatMessage("user", "word " * 3000)], max_tokens=1)


def test_pauses_double_and_an_answer_ends_them():
    time = [0.0]
    strikes = Strikes(clock=lambda: time[0])
    assert not strikes.add(1)
    assert strikes.pause() == 0.5
    assert strikes.add(1)
    assert strikes.pause() == 1.0
    time[0] = 0.25
    assert strikes.pause() == 0.75
    strikes.clear()
    assert strikes.pause() == 0.0
    assert not strikes.add(1)
