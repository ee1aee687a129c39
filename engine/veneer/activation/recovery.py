"""What happens when a workspace is opened for writing, in case the last writer died.

Order: generations left unfinished are closed -> temporary files go -> the active generation is
verified, and if something it needs is gone or damaged, the newest intact one is published as a
new generation; if the disk does not let us look, nothing is. Doing it twice does nothing more.
"""

from contextlib import suppress
from dataclasses import dataclass

from veneer.activation.journal import Generation, Journal
from veneer.compose.compile import Compiler
from veneer.compose.stacks import Stacks
from veneer.errors import StoreError, VeneerError
from veneer.store.fs import Fs
from veneer.store.layout import Layout

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Replaced:
    """The active generation could not be used; `new` (or nothing) runs in its place."""

    old: int
    new: int | None
    reason: str


@dataclass(frozen=True)
class Recovery:
    """What was found and done."""

    aborted: tuple[int, ...] = ()
    removed: int = 0
    replaced: Replaced | None = None


def recover(
    fs: Fs, layout: Layout, journal: Journal, stacks: Stacks, compiler: Compiler
) -> Recovery:
    """Bring a workspace back to where it is whole. Needs the writer's lock."""
    aborted = journal.unfinished()
    for number in aborted:
        journal.abort(number, INTERRUPTED)
    leftovers = fs.list_dir(layout.tmp)
    for name in leftovers:
        fs.unlink(layout.tmp / name)
    return Recovery(aborted, len(leftovers), _replace_broken(journal, stacks, compiler))


def _replace_broken(journal: Journal, stacks: Stacks, compiler: Compiler) -> Replaced | None:
    active = journal.active()
    reason = _broken(active, stacks, compiler) if active is not None else None
    if active is None or reason is None:
        return None
    for earlier in journal.committed_before(active.number):
        if _intact(earlier, stacks, compiler):
            return Replaced(active.number, _restore(earlier, journal), reason)
    return Replaced(active.number, None, reason)


def _broken(generation: Generation, stacks: Stacks, compiler: Compiler) -> str | None:
    try:
        _validate(generation, stacks, compiler)
    except StoreError:
        # It may be whole: whoever runs it is told that it could not be read.
        return None
    except VeneerError as error:
        return error.message
    return None


def _intact(generation: Generation, stacks: Stacks, compiler: Compiler) -> bool:
    with suppress(VeneerError):
        _validate(generation, stacks, compiler)
        return True
    return False


def _validate(generation: Generation, stacks: Stacks, compiler: Compiler) -> None:
    compiler.validate(stacks.get(generation.composition).manifest)


def _restore(earlier: Generation, journal: Journal) -> int:
    number = journal.request(earlier.composition, "recovery", earlier.number)
    journal.advance(number, "VALIDATED")
    # There is no worker yet. It was proven when it was first active; what fails to start now gives
    # way then, see `activator`.
    journal.advance(number, "STAGED")
    journal.commit(number, {})
    return number
