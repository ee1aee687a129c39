"""Veneer's engine: adapters over one immutable base, applied exactly or refused.

A front end opens a `Workspace` and holds nothing else. The rooms, in the order in which data
flows through them: `errors`, `tasks`, `identity`, `formats`, `adapters`, `store`, `compose`,
`runtime`, `activation`, `chat`, then `workspace` and `cli`. Each imports only rooms before it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veneer.workspace import Workspace

__all__ = ["Workspace"]


def __getattr__(name: str) -> Any:
    # Every worker imports this package, too, and must not wait for rooms that it never enters.
    if name == "Workspace":
        from veneer.workspace import Workspace

        return Workspace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
