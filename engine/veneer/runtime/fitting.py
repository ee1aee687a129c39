"""Which of a conversation's turns the model is told, where all of them do not fit.

Whole turns are left out, a question with its answer, oldest first; never what the system says, and
never the last question. More are left out at a time than need be, because each time the rest is
computed afresh.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from veneer.runtime.protocol import ChatMessage

Messages = tuple[ChatMessage, ...]
Tokens = tuple[int, ...]


def fitted(
    messages: Messages, dropped: int, n_ctx: int, wanted: int, tokens: Callable[[Messages], Tokens]
) -> tuple[int, Tokens]:
    """How many messages to leave out, and the tokens of the rest.

    `dropped` were left out before, and stay out unless all has much room now. `wanted` is how long
    the answer may become. The last turn is told even where it leaves no room for an answer.
    """
    room = min(wanted, n_ctx // 4)
    limit, ample = n_ctx - room, n_ctx * 3 // 4 - room
    prompts: dict[int, Tokens] = {}

    def needed(start: int) -> int:
        if start not in prompts:
            prompts[start] = tokens(without(messages, start))
        return len(prompts[start])

    def enough(start: int) -> bool:
        return needed(start) <= ample

    chosen = _chosen(messages, dropped, lambda start: needed(start) <= limit, enough)
    return chosen, prompts.get(chosen) or tokens(without(messages, chosen))


def _chosen(
    messages: Messages,
    dropped: int,
    fits: Callable[[int], bool],
    amply: Callable[[int], bool],
) -> int:
    if amply(0) or (not dropped and fits(0)):
        return 0
    further = [start for start in _turns(messages) if start > dropped]
    if not further or (dropped and fits(dropped)):
        return dropped
    return further[min(bisect_left(further, True, key=amply), len(further) - 1)]


def without(messages: Messages, dropped: int) -> Messages:
    """What is left without the oldest `dropped` messages after those of the system."""
    system = _system(messages)
    return messages[:system] + messages[system + dropped :]


def _turns(messages: Messages) -> Sequence[int]:
    """Where each turn begins, counted after what the system says."""
    rest = messages[_system(messages) :]
    return [n for n, m in enumerate(rest) if m.role == "user" or n == 0]


def _system(messages: Messages) -> int:
    return next((n for n, m in enumerate(messages) if m.role != "system"), len(messages))
