"""What a first run has to begin with, and the step that is next."""

from dataclasses import dataclass
from typing import Literal

from veneer.demo import BASE_FILE
from veneer.store.records import StoredAdapter, StoredBase
from veneer.store.refs import free_name
from veneer.workspace import Workspace
from veneer_app import text
from veneer_app.library.rows import verdict

Step = Literal["model", "adapter", "hello"]
STEPS: tuple[Step, ...] = ("model", "adapter", "hello")


@dataclass(frozen=True)
class Beginning:
    """The newest base, the newest adapter that fits it, and a free name for both as a stack.

    `misfit` says why the newest adapter does not fit, while none does. `embedded` is whether the
    base is the one that comes with Veneer, for which the demo adapters were trained.
    """

    base: StoredBase | None = None
    adapter: StoredAdapter | None = None
    stack: str = ""
    misfit: str = ""
    embedded: bool = False

    def step(self, *, without_adapter: bool) -> Step:
        """What is to be done next; `without_adapter` is that none is wanted."""
        if self.base is None:
            return "model"
        return "hello" if self.adapter is not None or without_adapter else "adapter"


def look(workspace: Workspace) -> Beginning:
    """Look at what was brought in so far."""
    base = max(workspace.library.bases(), key=lambda b: b.added_at, default=None)
    if base is None:
        return Beginning()
    fit, misfit = None, ""
    oldest_first = sorted(workspace.library.adapters(), key=lambda a: a.added_at)
    for stored in reversed(oldest_first):
        report = workspace.library.check(stored.digest, base.digest)
        if report.ok:
            fit = stored
            break
        misfit = misfit or f"“{text.plain(stored.name, 60)}”: {verdict(report)}"
    return Beginning(
        base=base,
        adapter=fit,
        stack=_free_name(workspace, fit) if fit is not None else "",
        misfit="" if fit is not None else misfit,
        embedded=base.file.name == BASE_FILE,
    )


def _free_name(workspace: Workspace, adapter: StoredAdapter) -> str:
    return free_name(adapter.name, [stack.name or "" for stack in workspace.stacks.saved()])
