"""Leaving out the oldest turns: at their boundaries, as few as serve, and the same ones again."""

import pytest

from veneer.runtime.fitting import fitted, without
from veneer.runtime.protocol import ChatMessage

SYSTEM = ChatMessage("system", "s" * 10)
TURNS = tuple(
    ChatMessage(role, f"{n}" * 10)  # type: ignore[arg-type]
    for n in range(5)
    for role in ("user", "assistant")
)[:-1]
"""Five questions and four answers of ten tokens each."""


def letters(messages: tuple[ChatMessage, ...]) -> tuple[int, ...]:
    """One token a letter."""
    return tuple(ord(letter) for message in messages for letter in message.content)


def left_out(n_ctx: int, dropped: int = 0, wanted: int = 8) -> int:
    return fitted((SYSTEM, *TURNS), dropped, n_ctx, wanted, letters)[0]


def test_all_is_told_while_there_is_room_for_an_answer():
    assert left_out(108) == 0
    assert left_out(107) > 0


def test_more_than_need_be_is_left_out_and_only_whole_turns():
    # Of 107 tokens, 72 may be the prompt: the system's 10, and three turns with the last question.
    dropped, tokens = fitted((SYSTEM, *TURNS), 0, 107, 8, letters)
    assert dropped == 4
    assert tokens == letters((SYSTEM, *TURNS[4:]))


def test_what_was_left_out_stays_out_while_the_rest_fits():
    assert left_out(107, dropped=2) == 2
    assert left_out(80, dropped=2) == 6


def test_all_is_told_again_in_a_much_larger_context():
    assert left_out(200, dropped=4) == 0


@pytest.mark.parametrize("n_ctx", [25, 12])
def test_the_last_question_and_the_system_are_never_left_out(n_ctx: int):
    dropped, tokens = fitted((SYSTEM, *TURNS), 0, n_ctx, 8, letters)
    assert dropped == 8
    assert tokens == letters((SYSTEM, TURNS[-1]))


def test_without_a_system_prompt_the_first_question_goes_first():
    assert without(TURNS, 2) == TURNS[2:]
