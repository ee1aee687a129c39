"""Conversations and messages as immutable values.

A conversation is a tree: a question that was edited, or an answer that was asked for again, lies
beside the one before it, and nothing that was said is ever overwritten. One way through the tree,
from a first message to the `leaf`, is the one that is shown and that the model is told.
"""

from typing import Literal

import msgspec

from veneer.chat.setup import Setup
from veneer.identity import Digest
from veneer.runtime.protocol import FinishReason

Role = Literal["system", "user", "assistant"]


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What made an answer, and how fast.

    `prompt_tokens` of the `n_ctx` tokens that the context holds were the question and what led to
    it; 0 where it was not noted. The oldest `left_out` messages did not fit and were not told to
    the model.
    """

    composition_id: Digest
    composition_name: str
    generation: int
    finish_reason: FinishReason
    tokens: int
    tokens_per_second: float
    first_token_ms: float
    prompt_tokens: int = 0
    n_ctx: int = 0
    left_out: int = 0


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A text file that was sent along with a question: its name, without a folder, and its text."""

    name: str
    text: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn. Only answers have a stamp.

    An answer that goes on from one that was cut off holds all of the text; `earlier` has the
    stamps of what made its beginning, first to last.
    """

    role: Role
    text: str
    created_at: str
    stamp: Stamp | None = None
    attachments: tuple[Attachment, ...] = ()
    earlier: tuple[Stamp, ...] = ()

    @property
    def told(self) -> str:
        """What the model is told: the text, and below it the files that came along."""
        files = (f"{a.name}:\n```\n{a.text.rstrip()}\n```" for a in self.attachments)
        return "\n\n".join(part for part in (self.text, *files) if part)


class Node(msgspec.Struct, frozen=True):
    """A message in its place: `parent` is the node that it follows, None at the beginning."""

    id: int
    parent: int | None
    message: Message


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation. `nodes` are in the order in which they were written, parents first."""

    id: int
    title: str
    created_at: str
    pinned: bool = False
    setup: Setup = Setup()
    nodes: tuple[Node, ...] = ()
    leaf: int | None = None

    @property
    def path(self) -> tuple[Node, ...]:
        """The way that is shown, from the first message to the leaf."""
        return self.path_to(self.leaf)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages on the way that is shown, oldest first."""
        return tuple(node.message for node in self.path)

    def path_to(self, number: int | None) -> tuple[Node, ...]:
        """The way from the first message to this node, both included."""
        by_id = {node.id: node for node in self.nodes}
        way: list[Node] = []
        while number is not None and number in by_id:
            way.append(by_id[number])
            number = by_id[number].parent
        return tuple(reversed(way))

    def children(self) -> dict[int | None, tuple[int, ...]]:
        """The nodes that follow each node (and None, the beginning), oldest first."""
        found: dict[int | None, list[int]] = {}
        for node in self.nodes:
            found.setdefault(node.parent, []).append(node.id)
        return {parent: tuple(ids) for parent, ids in found.items()}

    def end_after(self, number: int | None) -> int | None:
        """The end of the newest way that goes on from this node; of any way, from None."""
        children = self.children()
        while number in children:
            number = children[number][-1]
        return number

    def below(self, number: int) -> frozenset[int]:
        """This node and everything that follows it."""
        found = {number}
        for node in self.nodes:
            if node.parent in found:
                found.add(node.id)
        return frozenset(found)


def title_from(text: str) -> str:
    """A title for a conversation that begins with this."""
    line = " ".join(text.split())
    return line if len(line) <= 48 else line[:47].rstrip() + "…"
