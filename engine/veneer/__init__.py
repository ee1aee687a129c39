"""Veneer's engine: adapters over one immutable base, applied exactly or refused.

A front end opens a `Workspace` and holds nothing else. The rooms, in the order in which data
flows through them: `errors`, `tasks`, `identity`, `formats`, `adapters`, `store`, `compose`,
`runtime`, `activation`, `chat`, then `workspace` and `cli`. Each imports only rooms before it.
"""

from veneer.workspace import Workspace

__all__ = ["Workspace"]
