"""The two lists beside the editor: the saved stacks, and the adapters to drag onto a stack."""

from collections.abc import Sequence

from veneer.compose.stacks import Composition
from veneer.store.records import StoredAdapter
from veneer_app import text
from veneer_app.parts.carry import carrying
from veneer_app.parts.lines import Index, Line, Lines
from veneer_app.qt import Qt, QtCore
from veneer_app.reads import StacksNow
from veneer_app.stacks.draft import Draft

translate = text.translate


def stack_lines(now: StacksNow, key: str, draft: Draft, dirty: bool) -> tuple[Line, ...]:
    """The saved stacks, the one being edited marked if it has unsaved edits.

    The key of one that can be read is its name; of another one, what no name is.
    """
    active = now.active.composition.id if now.active is not None else None
    lines = [
        Line(
            c.name or "",
            _name(c.name or "", key, dirty),
            _made_of(c, now),
            c.id == active,
            str(now.key_of(c.name or "") or ""),
        )
        for c in now.saved
    ]
    lines += [
        Line((broken.name,), text.plain(broken.name, 48), translate("Stacks", "Cannot be read"))
        for broken in now.unreadable
    ]
    if not key:
        name = draft.name or translate("Stacks", "New stack")
        lines.insert(0, Line("", text.plain(name, 48), translate("Stacks", "Not saved yet")))
    return tuple(lines)


def adapter_lines(adapters: Sequence[StoredAdapter], searched: str) -> tuple[Line, ...]:
    """The adapters whose name has the words that were searched for."""
    wanted = searched.casefold()
    return tuple(
        Line(a.digest, text.plain(a.name, 48), _about(a))
        for a in adapters
        if wanted in a.name.casefold()
    )


class AdapterLines(Lines):
    """The list of adapters, each of which can be dragged."""

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Rows can be dragged."""
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def mimeData(self, indexes: Sequence[QtCore.QModelIndex]) -> QtCore.QMimeData:  # noqa: N802
        """What is dragged: the adapter."""
        return carrying(self.key_at(indexes[0]))


def _name(name: str, key: str, dirty: bool) -> str:
    shown = text.plain(name, 48)
    return f"{shown} *" if name == key and dirty else shown


def _made_of(composition: Composition, now: StacksNow) -> str:
    adapters = composition.manifest.composition.adapters
    if not adapters:
        return translate("Stacks", "Base only")
    return text.plain(
        ", ".join(f"{now.names.get(a.digest, '?')} {text.scale(a.scale)}" for a in adapters), 80
    )


def _about(stored: StoredAdapter) -> str:
    ranks = "/".join(map(str, stored.adapter.ranks[:4]))
    if not ranks:
        return translate("Stacks", "{n} tensors").format(n=len(stored.adapter.targets))
    return translate("Stacks", "rank {rank}, {n} tensors").format(
        rank=ranks, n=len(stored.adapter.targets)
    )
