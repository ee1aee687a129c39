"""One question to several stacks, on the real worker: same seed, and back to what was active."""

import json
import re
from pathlib import Path

import pytest

from veneer import Workspace
from veneer.chat.export import form_of
from veneer.chat.setup import Setup
from veneer.errors import Cancelled, UsageError
from veneer.runtime.protocol import Sampling
from veneer.tasks import CancelToken

SETUP = Setup(system="Answer.", sampling=Sampling(temperature=1.0), max_tokens=8)


@pytest.fixture
def number(talking: Workspace) -> int:
    talking.activate("objects")
    return talking.history.create("compared", SETUP).value.id


def test_each_side_is_made_by_its_stack_and_what_was_active_comes_back(
    talking: Workspace, number: int, tmp_path: Path
):
    heard: dict[int, str] = {0: "", 1: "", 2: ""}

    def hear(side: int, text: str) -> None:
        heard[side] += text

    refs = ["pirates", "plain", "pirates"]
    kept = talking.compare(number, "Describe the sun.", refs, on_side=hear).value
    sides = kept.comparison.sides
    assert [s.stamp.composition_name for s in sides if s.stamp] == refs
    assert [s.text for s in sides] == list(heard.values())
    # The same seed: the same stack says the same again, and another says something else.
    assert sides[0].text == sides[2].text != sides[1].text
    assert kept.comparison.setup.sampling.seed is not None
    generation, composition = talking.active() or pytest.fail("nothing is active")
    assert composition.name == "objects"
    assert generation.restores is not None
    assert talking.history.get(number).messages == ()

    talking.comparisons.judge(kept.id, 1, "shorter")
    (found,) = talking.comparisons.of(number)
    assert (found.comparison.vote, found.comparison.note) == (1, "shorter")
    out = tmp_path / "out.json"
    talking.export_conversation(number, out, "json")
    document = json.loads(out.read_text("utf-8"))
    assert [s["text"] for s in document["comparisons"][0]["sides"]] == [s.text for s in sides]


def test_a_side_that_is_refused_has_its_reason_and_the_others_answer(
    talking: Workspace, number: int, stranger: Path
):
    adapter = talking.import_path(stranger).value.id
    strange = talking.compose("smol", [(adapter, 1.0)], name="strange").value
    kept = talking.compare(number, "Describe the sun.", [strange.id, "plain"]).value
    refused, plain = kept.comparison.sides
    assert refused.error.endswith("[CONFIRM_BASE]")
    assert (refused.text, refused.stamp) == ("", None)
    assert plain.text
    assert (talking.active() or pytest.fail("nothing is active"))[1].name == "objects"


def test_a_stop_keeps_what_was_answered_and_comes_back(talking: Workspace, number: int):
    cancel = CancelToken()

    def hear(side: int, text: str) -> None:
        cancel.cancel()

    kept = talking.compare(number, "Hello?", ["pirates", "plain"], on_side=hear, cancel=cancel)
    (side,) = kept.value.comparison.sides
    assert side.stamp is not None
    assert side.stamp.finish_reason == "cancelled"
    assert (talking.active() or pytest.fail("nothing is active"))[1].name == "objects"
    with pytest.raises(Cancelled):
        talking.compare(number, "Hello?", ["pirates", "plain"], cancel=cancel)
    assert len(talking.comparisons.of(number)) == 1


def test_markdown_has_what_is_shown_and_what_made_it(talking: Workspace, tmp_path: Path):
    talking.activate("plain")
    number = talking.history.create("Fruit", SETUP).value.id
    talking.talk.say(number, "Name a fruit.")
    answer = talking.talk.again(number, talking.history.get(number).path[0].id).value
    out = tmp_path / "fruit.md"
    talking.export_conversation(number, out, "markdown")
    written = out.read_text("utf-8")
    head = "## System\n\nAnswer.\n\n## Question\n\nName a fruit.\n\n## Answer\n\n"
    assert head + answer.text in written
    assert written.count("## Answer") == 1
    assert re.search(r"\*plain \([0-9a-f]+\), \d+ tokens, [\d.]+ tokens/s", written)


def test_only_two_kinds_of_file_are_written():
    assert form_of(Path("a.MD")) == "markdown"
    with pytest.raises(UsageError, match=r"\.md or \.json, not “a\.txt”"):
        form_of(Path("a.txt"))
