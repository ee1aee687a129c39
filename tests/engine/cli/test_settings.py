"""`veneer settings`: shown, changed, and refused."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from tests.engine.cli.test_signing import Cli
from veneer import Workspace
from veneer.store.settings import Settings

README = Path(__file__).parents[3] / "README.md"


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "workspace", capsys)


def test_all_of_them_are_shown(cli: Cli):
    assert cli.ask("settings") == json.loads(msgspec.json.encode(Settings()))
    assert [line.split()[0] for line in cli.say("settings").splitlines()] == list(
        Settings.__struct_fields__
    )
    assert cli.ask("settings", "n_ctx") == {"n_ctx": 4096}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n_ctx", "8K", 8192),
        ("memory_budget", "6g", 6 << 30),
        ("type_kv", "q8_0", "q8_0"),
        ("require_signature", "true", True),
        ("n_ctx", "default", 4096),
    ],
)
def test_one_is_changed(cli: Cli, tmp_path: Path, name: str, text: str, value: object):
    assert cli.ask("settings", name, text) == {name: value}
    with Workspace.open(tmp_path / "workspace", writable=False) as workspace:
        assert getattr(workspace.settings, name) == value


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["n_ctx", "many"], "The setting n_ctx cannot be 'many'"),
        (["n_ctx", "63"], "Expected `int` >= 64"),
        (["on_switch", "wait"], "The setting on_switch cannot be 'wait'"),
        (["colour"], "There is no setting “colour”. There are n_ctx, n_threads"),
        (["colour", "default"], "There is no setting “colour”"),
    ],
)
def test_what_cannot_be_is_refused_by_name(cli: Cli, words: list[str], said: str):
    line = cli.say("settings", *words, code=1)
    assert line.startswith("error[SETTING]: ")
    assert said in line
    assert cli.ask("settings") == json.loads(msgspec.json.encode(Settings()))


def test_the_readme_tells_of_every_setting():
    _, table = README.read_text("utf-8").split("| setting | default |")
    named = re.findall(r"^\| `(\w+)` \|", table.split("\n\n")[0], re.MULTILINE)
    assert named == list(Settings.__struct_fields__)
