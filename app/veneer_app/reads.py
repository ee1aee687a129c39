"""What views show, looked up in one go on a reader's thread and handed over as frozen values.

A view never holds anything of the engine that could reach a file; it holds these.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from veneer.activation.journal import Generation
from veneer.activation.running import context_of
from veneer.adapters.compat import CompatReport
from veneer.chat.conversation import Conversation
from veneer.compose.plan import ContextSettings
from veneer.compose.signatures import Standing
from veneer.compose.stacks import Composition, Unreadable
from veneer.errors import Damaged, NotFound, VeneerError
from veneer.identity import Digest, short
from veneer.store.records import StoredAdapter, StoredBase
from veneer.workspace import Workspace
from veneer_app import text

Names = Mapping[Digest, str]


@dataclass(frozen=True)
class Active:
    """The active composition. `title` is its name, or what it is made of."""

    generation: int
    composition: Composition
    title: str
    can_roll_back: bool


@dataclass(frozen=True)
class LibraryNow:
    """Bases, adapters, the base to judge them by, and the context in the settings.

    `users` has the names of the stacks that need a base or an adapter.
    """

    bases: tuple[StoredBase, ...] = ()
    adapters: tuple[StoredAdapter, ...] = ()
    chosen: Digest | None = None
    users: Mapping[Digest, tuple[str, ...]] = field(default_factory=dict)
    context: ContextSettings = field(default_factory=ContextSettings)


@dataclass(frozen=True)
class Signed:
    """What a stack's signature is worth here, and whose it is said to be."""

    standing: Standing
    key: str
    whose: str


@dataclass(frozen=True)
class StacksNow:
    """All that the editor of stacks needs."""

    saved: tuple[Composition, ...] = ()
    bases: tuple[StoredBase, ...] = ()
    adapters: tuple[StoredAdapter, ...] = ()
    active: Active | None = None
    names: Names = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()
    signed: Mapping[str, Signed] = field(default_factory=dict)
    pins: Mapping[int, str] = field(default_factory=dict)

    def stack(self, name: str) -> Composition | None:
        """A saved stack by its name."""
        return next((c for c in self.saved if c.name == name), None)

    def key_of(self, name: str) -> int | None:
        """The key that a stack is pinned to."""
        return next((key for key, stack in self.pins.items() if stack == name), None)


@dataclass(frozen=True)
class Choice:
    """Something one click activates: a stack, or a base alone."""

    title: str
    base: Digest
    composition: Digest | None
    active: bool


@dataclass(frozen=True)
class Past:
    """A generation, what to call its composition, and the (adapter, base) it was confirmed for.

    `parts` has the base and the adapters with their strengths, bottom first; nothing where the
    manifest cannot be read.
    """

    generation: Generation
    title: str
    parts: tuple[str, ...]
    active: bool
    confirmed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Talked:
    """A conversation, and what to call each composition that answered in it."""

    conversation: Conversation
    titles: Names


@dataclass(frozen=True)
class Hint:
    """What an adapter's owner noted about talking to it."""

    name: str
    trigger: str
    system_prompt: str


@dataclass(frozen=True)
class Start:
    """What there is to begin with: a base, something that is active."""

    has_base: bool
    running: bool


def names(workspace: Workspace) -> Names:
    """The name of every base and adapter."""
    return {n.digest: n.name or short(n.digest) for n in workspace.library.named()}


def title_of(composition: Composition, known: Names) -> str:
    """Its name, or what it is made of."""
    if composition.name is not None:
        return composition.name
    base, *laid = made_of(composition, known)
    return text.plain(" + ".join(laid), 80) if laid else base


def made_of(composition: Composition, known: Names) -> tuple[str, ...]:
    """The base, then the adapters with their strengths from bottom to top."""
    semantic = composition.manifest.composition
    base = semantic.base.digests[0]
    laid = (
        f"{known.get(a.digest, short(a.digest))} {text.scale(a.scale)}" for a in semantic.adapters
    )
    return (known.get(base, short(base)), *laid)


def active(workspace: Workspace) -> Active | None:
    """The active composition, or None."""
    found = _readable_active(workspace)
    if found is None:
        return None
    generation, composition = found
    earlier = workspace.journal.committed_before(generation.restores or generation.number)
    return Active(
        generation=generation.number,
        composition=composition,
        title=title_of(composition, names(workspace)),
        can_roll_back=any(g.composition != generation.composition for g in earlier),
    )


def _readable_active(workspace: Workspace) -> tuple[Generation, Composition] | None:
    """What is active; None also if its manifest is gone, which was told when opening.

    The stacks that can be read are still worth showing, and one of them is the way out.
    """
    try:
        return workspace.active()
    except Damaged:
        return None


def library(workspace: Workspace, chosen: Digest | None) -> LibraryNow:
    """Everything in the library; without a choice, the first base is the one to fit."""
    bases, adapters = workspace.library.bases(), workspace.library.adapters()
    against = next((b for b in bases if b.digest == chosen), bases[0] if bases else None)
    needed = _users(workspace)
    if against is None:
        return LibraryNow(bases, adapters, users=needed)
    return LibraryNow(bases, adapters, against.digest, needed, context_of(workspace.settings))


def _users(workspace: Workspace) -> dict[Digest, tuple[str, ...]]:
    users: dict[Digest, tuple[str, ...]] = {}
    for stack in workspace.stacks.saved():
        semantic = stack.manifest.composition
        for digest in (*semantic.base.digests, *(a.digest for a in semantic.adapters)):
            users[digest] = (*users.get(digest, ()), stack.name or short(stack.id))
    return users


def stacks(workspace: Workspace) -> StacksNow:
    """The saved stacks, what they are made of, and what is active."""
    return StacksNow(
        saved=workspace.stacks.saved(),
        bases=workspace.library.bases(),
        adapters=workspace.library.adapters(),
        active=active(workspace),
        names=names(workspace),
        unreadable=workspace.stacks.unreadable(),
        signed=_signed(workspace),
        pins=workspace.pins.all(),
    )


def _signed(workspace: Workspace) -> dict[str, Signed]:
    """The signatures of the saved stacks that have one, by the stack's name."""
    signatures = workspace.signatures
    owners = {known.key: known.name for known in signatures.trusted.all()}
    found: dict[str, Signed] = {}
    for stack in workspace.stacks.saved():
        signature = stack.manifest.envelope.signature
        if signature is not None:
            standing, whose = signatures.standing(stack), owners.get(signature.key, "")
            found[stack.name or ""] = Signed(standing, signature.key, whose)
    return found


def pinned(workspace: Workspace, key: int) -> Composition | None:
    """The stack under a key, if there is one."""
    name = workspace.pins.all().get(key)
    return None if name is None else workspace.stacks.find(f"composition:{name}")


def choices(workspace: Workspace) -> tuple[Choice, ...]:
    """What can be activated with one click: each base alone, then the stacks with adapters."""
    now = _readable_active(workspace)
    current = now[1] if now is not None else None
    plain = [
        Choice(b.name, b.digest, None, _is_base_alone(current, b.digest))
        for b in workspace.library.bases()
    ]
    made = [
        Choice(
            c.name or short(c.id),
            c.manifest.composition.base.digests[0],
            c.id,
            current is not None and current.id == c.id,
        )
        for c in workspace.stacks.saved()
        if c.manifest.composition.adapters
    ]
    return (*plain, *made)


def _is_base_alone(current: Composition | None, base: Digest) -> bool:
    if current is None:
        return False
    semantic = current.manifest.composition
    return not semantic.adapters and semantic.base.digests == (base,)


def fits(
    workspace: Workspace, base: Digest, adapters: Iterable[Digest]
) -> Mapping[Digest, CompatReport]:
    """How these adapters fit a base, as far as they and it are still there."""
    found: dict[Digest, CompatReport] = {}
    with suppress(NotFound):
        for adapter in adapters:
            found[adapter] = workspace.library.check(adapter, base)
    return found


def generations(workspace: Workspace, limit: int = 200) -> tuple[Past, ...]:
    """The newest generations, newest first."""
    known, told = names(workspace), dict[Digest, tuple[str, tuple[str, ...]]]()
    current = workspace.journal.active()
    past: list[Past] = []
    for generation in workspace.journal.all(limit):
        key = generation.composition
        if key not in told:
            told[key] = _told(workspace, key, known)
        here = current is not None and current.number == generation.number
        past.append(Past(generation, *told[key], here, _confirmed(generation, known)))
    return tuple(past)


def _told(workspace: Workspace, key: Digest, known: Names) -> tuple[str, tuple[str, ...]]:
    """What to call a composition, and what it is made of."""
    try:
        composition = workspace.stacks.get(key)
    except VeneerError:
        # Its manifest is gone or damaged; the row is still worth showing.
        return short(key), ()
    return title_of(composition, known), made_of(composition, known)


def _confirmed(generation: Generation, known: Names) -> tuple[tuple[str, str], ...]:
    return tuple(
        (known.get(p.adapter, short(p.adapter)), known.get(p.base, short(p.base)))
        for p in generation.confirmed
    )


def newest_generation(workspace: Workspace) -> Generation | None:
    """The generation that was requested last, whatever became of it."""
    return next(iter(workspace.journal.all(limit=1)), None)


def conversation(workspace: Workspace, number: int) -> Talked:
    """One conversation with its messages."""
    found = workspace.history.get(number)
    stamps = (s for node in found.nodes for s in (*node.message.earlier, node.message.stamp))
    ids = {stamp.composition_id for stamp in stamps if stamp is not None}
    return Talked(found, titles(workspace, ids))


def titles(workspace: Workspace, compositions: Iterable[Digest]) -> Names:
    """What to call each of these compositions."""
    known = names(workspace)
    return {key: _told(workspace, key, known)[0] for key in compositions}


def hints(workspace: Workspace) -> tuple[Hint, ...]:
    """What is noted about talking to the adapters that are active, from top to bottom."""
    found = _readable_active(workspace)
    if found is None:
        return ()
    noted: list[Hint] = []
    for ref in reversed(found[1].manifest.composition.adapters):
        with suppress(NotFound):
            a = workspace.library.adapter(ref.digest)
            noted.append(Hint(a.name, a.trigger_text, a.system_prompt))
    return tuple(hint for hint in noted if hint.trigger or hint.system_prompt)


def start(workspace: Workspace) -> Start:
    """What there is to begin with."""
    running = workspace.journal.active() is not None
    return Start(bool(workspace.library.bases()), running)
