"""`veneer history`: what a person reads years later."""

import re
from itertools import count
from pathlib import Path

import pytest

from tests.engine.cli.test_signing import Cli
from veneer import Workspace
from veneer.activation import journal

SHOWN = """\
    3  COMMITTED  {plain}  plain  by recovery, back to 1
       REQUESTED 2026-12-03 08:00:10, COMMITTED +0.250 s
    2  ABORTED    {pirates}  pirates  by window
       REQUESTED 2026-12-03 08:00:09, VALIDATED +0.250 s, ABORTED +0.500 s
       DAMAGED at stage: The adapter “pirate” has changed on disk.
    1  COMMITTED  {plain}  plain  by cli
       REQUESTED 2026-12-03 08:00:08, VALIDATED +0.250 s, STAGED +0.500 s, COMMITTED +0.750 s
       validate 1 ms, stage 40 ms
"""


@pytest.fixture
def past(root: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Three generations on a clock that advances by a quarter of a second; the stacks' ids."""
    quarters = count(4 * 8)
    monkeypatch.setattr(
        journal, "now", lambda: f"2026-12-03T08:00:{next(quarters) / 4:06.3f}+00:00"
    )
    with Workspace.open(root) as workspace:
        ids = {name: workspace.stacks.find(name).id for name in ("plain", "pirates")}
        first = workspace.journal.request(ids["plain"], "cli")
        workspace.journal.advance(first, "VALIDATED")
        workspace.journal.advance(first, "STAGED")
        workspace.journal.commit(first, {"validate": 1.0, "stage": 40.0, "stage_probe": 30.0})
        second = workspace.journal.request(ids["pirates"], "window")
        workspace.journal.advance(second, "VALIDATED")
        reason = "DAMAGED at stage: The adapter “pirate” has changed on disk."
        workspace.journal.abort(second, reason)
        next(quarters)
        third = workspace.journal.request(ids["plain"], "recovery", first)
        workspace.journal.commit(third, {})
    return ids


@pytest.fixture
def cli(root: Path, past: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(root, capsys)


def test_every_generation_is_told_with_its_times_and_its_reason(cli: Cli, past: dict[str, str]):
    digits = {name: digest[7:19] for name, digest in past.items()}
    assert cli.say("history") == SHOWN.format(**digits)


def test_a_program_gets_all_of_it(cli: Cli, past: dict[str, str]):
    third, second, first = cli.ask("history")
    assert (third["restores"], third["requested_by"], third["name"]) == (1, "recovery", "plain")
    assert [t["state"] for t in first["transitions"]] == [
        "REQUESTED", "VALIDATED", "STAGED", "COMMITTED",
    ]  # fmt: skip
    assert first["transitions"][0]["at"] == "2026-12-03T08:00:08.000+00:00"
    assert (second["composition"], second["state"]) == (past["pirates"], "ABORTED")
    assert second["reason"].startswith("DAMAGED at stage")


def test_only_the_newest_are_told_if_so_asked(cli: Cli):
    assert re.findall(r"^ {4}(\d)", cli.say("history", "--limit", "2"), re.MULTILINE) == ["3", "2"]
