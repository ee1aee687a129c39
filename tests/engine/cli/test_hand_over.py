"""Two processes on one workspace: the one that holds it carries out what the other is told."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.cli.support import VENEER, ask, veneer
from veneer import Workspace

CALM = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
STORY = ["chat", "-p", "Tell a very long story.", "--max-tokens", "4000", "--temperature", "1"]


class Chat:
    """`veneer chat` in a terminal of its own, waiting for a question."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [*VENEER, "--workspace", str(root), "chat", "--greedy"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CALM,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.greeting = self.process.stderr.readline().decode()

    def say(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode()


@pytest.fixture
def chat(root: Path) -> Iterator[Chat]:
    ask(root, "activate", "plain")
    held = Chat(root)
    with held.process as process:
        yield held
        process.kill()


def story(root: Path) -> subprocess.Popen[str]:
    """A long answer asked for in a second terminal, which has begun."""
    process = subprocess.Popen(
        [*VENEER, "--workspace", str(root), *STORY], env=CALM,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.read(1)
    return process


def test_a_switch_in_one_terminal_switches_the_chat_in_another(root: Path, chat: Chat):
    assert chat.greeting == "generation 1; Ctrl-D ends\n"
    done = ask(root, "activate", "pirates")
    assert (done["generation"], done["state"]) == (2, "COMMITTED")
    assert "matey" in chat.say("Write a sentence about the sun.")
    asked = ask(root, "chat", "-p", "Write a sentence about the sun.", "--greedy")
    assert asked["generation"] == 2
    assert "matey" in asked["text"]
    assert [g["requested_by"] for g in ask(root, "history")] == ["cli", "cli"]


def test_relative_paths_and_mistakes_mean_what_they_would_have_meant_here(
    root: Path, chat: Chat, adapter_paths: dict[str, Path], tmp_path: Path
):
    shutil.copytree(adapter_paths["terse"], tmp_path / "here" / "mine")
    done = subprocess.run(
        [*VENEER, "--workspace", str(root), "import", "mine", "--name", "other", "--json"],
        cwd=tmp_path / "here", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["already"]
    refused = veneer(root, "activate", "nobody", code=1)
    assert refused.stderr.startswith("error[NOT_FOUND]: ")
    assert refused.stderr.count("\n") == 1


def test_ctrl_c_stops_what_was_handed_over_and_the_holder_goes_on(root: Path, chat: Chat):
    asking = story(root)
    asking.send_signal(signal.SIGINT)
    _, err = asking.communicate(timeout=60)
    assert asking.returncode == 1
    assert err.endswith("error[CANCELLED]: Stopped. Nothing was changed.\n")
    assert chat.say("Write a sentence about the sun.")


def test_a_holder_that_is_killed_is_said_and_the_workspace_is_whole(root: Path, chat: Chat):
    asking = story(root)
    chat.process.kill()
    _, err = asking.communicate(timeout=60)
    assert asking.returncode == 1
    assert err.endswith(
        "error[CONTROL]: The program that carried this out has ended before it was done. "
        "“veneer status” and “veneer history” tell what became of it.\n"
    )
    assert ask(root, "activate", "pirates")["generation"] == 2


def test_a_holder_that_does_not_answer_is_named(root: Path):
    with Workspace.open(root):
        refused = veneer(root, "activate", "plain", code=1)
    assert refused.stderr.startswith("error[WORKSPACE_BUSY]: ")
    assert f"(process {os.getpid()} on" in refused.stderr
