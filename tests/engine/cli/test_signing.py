"""`sign`, `key` and `trust`, in this process: the keyring of a test is in its memory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.keyrings import MemoryKeyring, using
from veneer.cli.run import run
from veneer.compose.signing import public_key

KEY = public_key(bytes(32))


class Cli:
    """Commands on one workspace."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root = str(root)
        self._capsys = capsys

    def say(self, *words: str, code: int = 0) -> str:
        assert run(["--workspace", self._root, *words]) == code
        shown = self._capsys.readouterr()
        return shown.err if code else shown.out

    def ask(self, *words: str) -> Any:
        return json.loads(self.say(*words, "--json"))


@pytest.fixture
def cli(root: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    with using(MemoryKeyring()):
        yield Cli(root, capsys)


def test_signing_a_stack(cli: Cli):
    key = cli.ask("key")["key"]
    assert cli.say("key") == f"{key}\n"
    assert cli.ask("inspect", "pirates")["signature"] == "unsigned"
    assert cli.ask("sign", "pirates")["key"] == key
    assert f"by {key}" in cli.say("sign", "pirates")
    facts = cli.ask("inspect", "pirates")
    assert (facts["signature"], facts["signed_by"]) == ("trusted", key)
    assert [known["key"] for known in cli.ask("trust", "list")] == [key]


def test_trusting_a_key_and_trusting_it_no_more(cli: Cli):
    assert cli.say("trust", KEY, "--name", "Ada") == f"trusted {KEY}\n"
    assert cli.say("trust", "list").split()[::2] == [KEY, "Ada"]
    assert cli.ask("trust", "remove", KEY[8:]) == {"removed": KEY}
    assert cli.ask("trust", "list") == []
    assert cli.say("trust", "remove", KEY, code=1).startswith("error[NOT_FOUND]: ")
    assert cli.say("trust", "somebody", code=1).startswith("error[USAGE]: ")
    assert cli.say("trust", "add", KEY, code=1).startswith("error[USAGE]: ")
