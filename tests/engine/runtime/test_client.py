"""Sampling, stopping and streaming, through a real worker."""

import pytest

from veneer import Workspace
from veneer.errors import ContextFull
from veneer.runtime.protocol import ChatMessage, Sampling
from veneer.tasks import CancelToken

STORY = [ChatMessage("user", "Tell a story about a dog.")]


@pytest.fixture
def running(workspace: Workspace) -> Workspace:
    workspace.activate("plain")
    return workspace


def test_a_seed_repeats_and_another_seed_differs(running: Workspace):
    def tokens(seed: int) -> tuple[int, ...]:
        sampling = Sampling(temperature=1.0, seed=seed)
        return running.talk.ask(STORY, sampling, max_tokens=16).token_ids

    assert tokens(1) == tokens(1)
    assert tokens(1) != tokens(2)


def test_top_k_of_one_is_greedy(running: Workspace):
    greedy = running.talk.ask(STORY, Sampling(temperature=0.0), max_tokens=16)
    narrow = running.talk.ask(STORY, Sampling(temperature=1.5, top_k=1, seed=5), max_tokens=16)
    assert greedy.token_ids == narrow.token_ids


def test_a_repeat_penalty_changes_a_loop(running: Workspace):
    loop = [ChatMessage("user", "What is the capital of Italy?")]
    plain = running.talk.ask(loop, Sampling(temperature=0.0), max_tokens=32)
    penal = running.talk.ask(loop, Sampling(temperature=0.0, repeat_penalty=1.5), max_tokens=32)
    assert len(set(penal.token_ids)) > len(set(plain.token_ids))


def test_the_limit_is_kept_and_named(running: Workspace):
    answer = running.talk.ask(STORY, Sampling(temperature=0.0), max_tokens=5)
    assert len(answer.token_ids) == 5
    assert answer.finish_reason == "length"


def test_text_streams_and_adds_up(running: Workspace):
    heard: list[str] = []
    answer = running.talk.ask(STORY, Sampling(temperature=0.0), max_tokens=20, on_text=heard.append)
    assert len(heard) > 5
    assert "".join(heard) == answer.text


def test_a_stop_string_ends_the_answer_before_itself(running: Workspace):
    whole = running.talk.ask(STORY, Sampling(temperature=0.0), max_tokens=30).text
    word = whole.split()[4]
    answer = running.talk.ask(STORY, Sampling(temperature=0.0), max_tokens=30, stop=(word,))
    assert answer.finish_reason == "stop"
    assert answer.text == whole[: whole.index(word)]


def test_a_stopped_answer_keeps_what_was_said(running: Workspace):
    cancel, heard = CancelToken(), []

    def hear(text: str) -> None:
        heard.append(text)
        if len(heard) == 5:
            cancel.cancel()

    answer = running.talk.ask(
        STORY, Sampling(temperature=0.0), max_tokens=2000, on_text=hear, cancel=cancel
    )
    assert answer.finish_reason == "cancelled"
    assert answer.text == "".join(heard)
    assert 5 <= len(answer.token_ids) < 500


def test_a_prompt_that_does_not_fit_says_by_how_much(running: Workspace):
    long = [ChatMessage("user", "word " * 9000)]
    with pytest.raises(ContextFull, match="4096"):
        running.talk.ask(long)
