"""Ctrl-C around a commit: what is said is what is so."""

import os
import signal
import sys
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.activation.journal import Journal
from veneer.cli.run import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


def press_after(monkeypatch: pytest.MonkeyPatch, method: str, times: int = 1) -> None:
    """Press Ctrl-C right after the journal has done this."""
    done = getattr(Journal, method)

    def then_press(*args, **options):
        result = done(*args, **options)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        return result

    monkeypatch.setattr(Journal, method, then_press)


def active_in(root: Path) -> str | None:
    with Workspace.open(root, writable=False) as workspace:
        active = workspace.active()
        return active[1].name if active else None


def test_after_the_commit_the_switch_is_done_and_that_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    press_after(monkeypatch, "commit")
    assert run(["--workspace", str(root), "activate", "plain"]) == 0
    said = capsys.readouterr()
    assert "generation 1" in said.out
    assert said.err == ""
    assert active_in(root) == "plain"


def test_pressed_twice_it_leaves_at_once_and_does_not_say_that_nothing_was_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    press_after(monkeypatch, "commit", times=2)
    assert run(["--workspace", str(root), "activate", "plain"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error[CANCELLED]: Stopped at once")
    assert "veneer history" in said
    assert "Nothing was changed" not in said
    assert active_in(root) == "plain"


def test_before_the_commit_nothing_is_changed_and_that_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    press_after(monkeypatch, "request")
    assert run(["--workspace", str(root), "activate", "plain"]) == 1
    assert capsys.readouterr().err == "error[CANCELLED]: Stopped. Nothing was changed.\n"
    assert active_in(root) is None


def test_the_demo_ends_where_it_is_and_says_what_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    press_after(monkeypatch, "commit")
    assert run(["--workspace", str(tmp_path / "ws"), "demo", "--headless"]) == 1
    said = capsys.readouterr().err
    assert said.endswith(
        "error[CANCELLED]: The demo was stopped. What it has imported and activated stays.\n"
    )
    with Workspace.open(tmp_path / "ws", writable=False) as workspace:
        assert [generation.state for generation in workspace.journal.all()] == ["COMMITTED"]
        assert len(workspace.library.adapters()) == 3
