"""`rename`, `note` and `pin`."""

from pathlib import Path

import pytest

from tests.engine.cli.support import ask, veneer


def _names(root: Path) -> set[str]:
    kinds = ("bases", "adapters", "compositions")
    return {row["name"] for kind in kinds for row in ask(root, "list", kind)}


def test_a_base_an_adapter_and_a_stack_are_renamed(root: Path):
    said = veneer(root, "rename", "base:smol", " little  one ").stdout
    assert said == "renamed base:smol to little one\n"
    assert ask(root, "rename", "terse", "short")["name"] == "short"
    veneer(root, "rename", "pirates", "sailors")
    names = _names(root)
    assert {"little one", "short", "sailors"} <= names
    assert not {"smol", "terse", "pirates"} & names


def test_a_name_that_is_taken_leaves_both_as_they_were(root: Path):
    before = _names(root)
    assert "error[NAME_TAKEN]" in veneer(root, "rename", "pirates", "both", code=1).stderr
    assert "error[NOT_FOUND]" in veneer(root, "rename", "nobody", "x", code=1).stderr
    assert _names(root) == before


def test_a_composition_without_a_name_has_none_to_change(root: Path):
    made = ask(root, "inspect", "objects")["id"]
    veneer(root, "remove", "objects")
    assert "error[USAGE]" in veneer(root, "rename", made, "x", code=1).stderr


def test_what_is_noted_of_an_adapter_is_kept(root: Path):
    words = ("--strength", "0.8", "--trigger", "ahoy", "--tag", "sea", "--tag", "fun")
    assert veneer(root, "note", "pirate", *words).stdout == "noted about pirate\n"
    kept = ask(root, "note", "pirate", "--system", "You are a pirate.", "--license", "MIT")
    assert kept["trigger_text"] == "ahoy"
    facts = ask(root, "inspect", "pirate")
    assert facts["tags"] == ["sea", "fun"]
    assert (facts["default_scale"], facts["system_prompt"]) == (0.8, "You are a pirate.")


def test_stacks_are_pinned_listed_and_taken_off(root: Path):
    assert veneer(root, "pin", "pirates", "3").stdout == "pirates is under key 3\n"
    assert ask(root, "pin", "both", "1") == {"stack": "both", "key": 1}
    assert veneer(root, "pin", "list").stdout == "1  both\n3  pirates\n"
    veneer(root, "pin", "remove", "both")
    assert ask(root, "pin", "list") == [{"key": 3, "stack": "pirates"}]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nobody", "1"), "NOT_FOUND"),
        (("pirates", "10"), "USAGE"),
        (("pirates", "x"), "USAGE"),
        (("pirates",), "USAGE"),
    ],
)
def test_a_pin_that_cannot_be_set_says_so(root: Path, words: tuple[str, ...], code: str):
    assert f"error[{code}]" in veneer(root, "pin", *words, code=1).stderr
    assert ask(root, "pin", "list") == []
