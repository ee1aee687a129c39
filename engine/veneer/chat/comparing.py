"""Putting the same question to several compositions, with the one worker there is.

Order: one after another is activated, and asked with the same seed -> the composition that was
active before comes back, whatever happened -> the comparison is kept with its conversation.
Each switch is a generation like any other, so the history tells of it.
"""

import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from veneer.activation.activator import Activator
from veneer.activation.journal import Journal, Requester
from veneer.chat.comparisons import Comparison, Comparisons, Kept, Side
from veneer.chat.conversation import Conversation
from veneer.chat.history import History, changed
from veneer.chat.setup import Setup
from veneer.chat.talk import Talk, left_out, told
from veneer.compose.stacks import Composition, Stacks
from veneer.errors import VeneerError
from veneer.runtime.protocol import ChatMessage
from veneer.store.changes import Outcome
from veneer.store.database import now
from veneer.tasks import CancelToken

OnSide = Callable[[int, str], None]
"""Called with the number of a side, from 0, and some more text of its answer."""
_SEED_BITS = 31


@dataclass(frozen=True)
class _Question:
    """What every side is asked, and who hears the answers."""

    messages: tuple[ChatMessage, ...]
    setup: Setup
    dropped: int
    on_side: OnSide
    cancel: CancelToken


class Comparing:
    """Asks one composition after another."""

    def __init__(
        self,
        activator: Activator,
        journal: Journal,
        stacks: Stacks,
        talk: Talk,
        history: History,
        comparisons: Comparisons,
    ) -> None:
        self._activator = activator
        self._journal = journal
        self._stacks = stacks
        self._talk = talk
        self._history = history
        self._comparisons = comparisons

    def compare(
        self,
        conversation: int,
        question: str,
        compositions: Sequence[Composition],
        by: Requester,
        *,
        on_side: OnSide,
        cancel: CancelToken,
    ) -> Outcome[Kept]:
        """Ask after what a conversation shows, under each composition with the same seed.

        A composition that is refused, or fails, has its reason in its side, and the others are
        asked nonetheless. A stop keeps what was answered before it. Raises `Cancelled` where that
        is nothing, and what bringing back the composition of before raises.
        """
        kept = self._history.get(conversation)
        setup = _seeded(kept.setup)
        messages = (*told(setup, kept.messages), ChatMessage("user", question))
        asked = _Question(messages, setup, left_out(kept.messages), on_side, cancel)
        sides: list[Side] = []
        ours: set[int] = set()
        with self._coming_back(by, ours):
            for number, composition in enumerate(compositions):
                if not cancel.cancelled:
                    sides.append(self._side(asked, number, composition, by, ours))
        if not any(side.text for side in sides):
            cancel.check()
        comparison = _comparison(kept, question, setup, tuple(sides))
        return Outcome(self._comparisons.keep(conversation, comparison), changed(conversation))

    def _side(
        self,
        asked: _Question,
        number: int,
        composition: Composition,
        by: Requester,
        ours: set[int],
    ) -> Side:
        said: list[str] = []

        def hear(text: str) -> None:
            said.append(text)
            asked.on_side(number, text)

        try:
            ours.add(self._activate(composition, by, asked.cancel))
            answer = self._talk.ask(
                asked.messages,
                asked.setup.sampling,
                max_tokens=asked.setup.max_tokens,
                on_text=hear,
                cancel=asked.cancel,
                dropped=asked.dropped,
            )
        except VeneerError as error:
            why = f"{error.message} [{error.full_code}]"
            return Side(composition_id=composition.id, text="".join(said), error=why)
        return Side(
            composition_id=answer.composition_id, text=answer.text, stamp=self._talk.stamp(answer)
        )

    def _activate(
        self,
        composition: Composition,
        by: Requester,
        cancel: CancelToken | None = None,
        restores: int | None = None,
    ) -> int:
        done = self._activator.activate(composition, by, restores=restores, cancel=cancel)
        # A view that shows what is active must not wait for the last answer.
        self._activator.on_changes(done.changes)
        return done.value.generation

    @contextmanager
    def _coming_back(self, by: Requester, ours: set[int]) -> Generator[None]:
        """Activate in the end what is active now, unless a person has switched meanwhile.

        `ours` are the generations that were activated in between.
        """
        before = self._journal.active()
        try:
            yield
        finally:
            after = self._journal.active()
            if before is not None and after is not None and after.number in ours - {before.number}:
                origin = before.restores or before.number
                self._activate(self._stacks.get(before.composition), by, restores=origin)


def _seeded(setup: Setup) -> Setup:
    """The setup with a seed, so that every side has the same one."""
    if setup.sampling.seed is not None:
        return setup
    sampling = msgspec.structs.replace(setup.sampling, seed=secrets.randbits(_SEED_BITS))
    return msgspec.structs.replace(setup, sampling=sampling)


def _comparison(
    kept: Conversation, question: str, setup: Setup, sides: tuple[Side, ...]
) -> Comparison:
    return Comparison(
        question=question, setup=setup, after=kept.leaf, created_at=now(), sides=sides
    )
