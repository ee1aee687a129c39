"""`chat list` and `chat export`, which need no model."""

import json
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.chat.conversation import Message
from veneer.cli.run import run


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A workspace with two conversations."""
    root = tmp_path / "workspace"
    with Workspace.open(root) as workspace:
        for title in ("fruit", "colours\x1b[31m"):
            number = workspace.history.create(title).value.id
            question = Message(role="user", text=f"Name {title[:5]}.", created_at="then")
            workspace.history.append(number, question, None)
        workspace.history.pin(1, pinned=True)
    return root


def test_conversations_are_listed_and_searched(kept: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--workspace", str(kept), "chat", "list"]
    assert run([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["id"], r["pinned"]) for r in rows] == [(1, True), (2, False)]
    assert run([*words, "--search", "NAME COLO"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("2  ")
    assert "\x1b" not in shown


def test_a_conversation_is_written_to_a_file(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = ["--workspace", str(kept), "chat", "export"]
    out = tmp_path / "fruit.md"
    assert run([*words, "1", str(out)]) == 0
    assert "## Question\n\nName fruit." in out.read_text("utf-8")
    assert run([*words, "1", str(tmp_path / "fruit.json"), "--json"]) == 0
    document = json.loads((tmp_path / "fruit.json").read_text("utf-8"))
    assert [m["text"] for m in document["messages"]] == ["Name fruit."]
    before = out.read_bytes()
    capsys.readouterr()
    assert run([*words, "9", str(out)]) == 1
    assert "error[NOT_FOUND]: There is no conversation 9." in capsys.readouterr().err
    assert out.read_bytes() == before
    assert run([*words, "1", str(tmp_path / "fruit.txt")]) == 1
    assert "error[USAGE]" in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"workspace", "fruit.md", "fruit.json"}
