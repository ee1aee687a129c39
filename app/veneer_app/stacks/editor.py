"""Holds the draft that is being edited. Every edit can be undone; drafts survive a look elsewhere.

An edit replaces the whole draft, so undoing is putting the old one back.
"""

from collections.abc import Callable

from veneer.identity import Digest
from veneer_app.qt import QtCore, QtGui, Signal
from veneer_app.stacks import draft as drafts
from veneer_app.stacks.draft import Draft


class Editor(QtCore.QObject):
    """One draft at a time; `edited` carries each new one. A key is a stack's name, or ""."""

    edited = Signal(object)

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.undo = QtGui.QUndoStack(self)
        self.key = ""
        self.draft = Draft()
        self._saved: dict[str, Draft] = {}
        self._kept: dict[str, Draft] = {}

    @property
    def dirty(self) -> bool:
        """Whether the draft differs from the stack it was opened from."""
        return not self.draft.means(self._saved.get(self.key, Draft()))

    def open(self, key: str, saved: Draft) -> None:
        """Edit a stack, with the edits that were left in it."""
        self._kept[self.key] = self.draft
        kept = self._kept.get(key)
        self._saved[key] = saved
        self.key = key
        self.draft = kept if kept is not None else saved
        self.undo.clear()
        self.edited.emit(self.draft)

    def start(self, base: Digest | None) -> None:
        """Edit a new stack."""
        self._kept.pop("", None)
        if not self.key:
            # `open` keeps the draft it leaves, and it would find that one again.
            self.draft = Draft(base=base)
        self.open("", Draft(base=base))

    def reread(self, key: str, saved: Draft) -> None:
        """A stack was saved, here or elsewhere: follow it unless there are edits of one's own."""
        untouched = not self.dirty
        self._saved[key] = saved
        if key == self.key and (untouched or self.draft.means(saved)):
            self.draft = self.draft if self.draft.means(saved) else saved
            self.edited.emit(self.draft)

    def saved_as(self, name: str) -> None:
        """The draft is now the stack of this name."""
        self._kept.pop(self.key, None)
        self.key = name
        self._saved[name] = self.draft
        self.edited.emit(self.draft)

    def forget(self, key: str) -> None:
        """A stack is gone, and the edits in it with it."""
        self._kept.pop(key, None)
        self._saved.pop(key, None)

    def rename(self, name: str) -> None:
        """Give the draft another name."""
        self._edit(self.tr("Rename"), Draft(name, self.draft.base, self.draft.layers))

    def set_base(self, base: Digest) -> None:
        """Put the draft on another base."""
        self._edit(self.tr("Change base"), Draft(self.draft.name, base, self.draft.layers))

    def add(self, adapter: Digest, scale: float, at: int | None = None) -> None:
        """Add an adapter on top, or at a place."""
        self._edit(self.tr("Add"), drafts.with_adapter(self.draft, adapter, scale, at))

    def remove(self, adapter: Digest) -> None:
        """Take an adapter out."""
        self._edit(self.tr("Remove"), drafts.without(self.draft, adapter))

    def set_scale(self, adapter: Digest, scale: float) -> None:
        """Change a strength. Changes of the same one in a row are undone together."""
        wanted = drafts.with_scale(self.draft, adapter, scale)
        self._edit(self.tr("Change strength"), wanted, merge=hash(adapter) & 0x7FFFFFF)

    def set_on(self, adapter: Digest, on: bool) -> None:
        """Switch an adapter on or off."""
        self._edit(self.tr("Switch"), drafts.with_on(self.draft, adapter, on))

    def move(self, adapter: Digest, to: int) -> None:
        """Move an adapter before the layer at a place."""
        self._edit(self.tr("Move"), drafts.moved(self.draft, adapter, to))

    def nudge(self, adapter: Digest, up: bool) -> None:
        """Move an adapter one place up or down."""
        here = self.draft.place_of(adapter)
        if here is not None:
            self.move(adapter, here + 2 if up else here - 1)

    def _edit(self, words: str, wanted: Draft, merge: int = -1) -> None:
        if wanted != self.draft:
            self.undo.push(_Edit(words, self.draft, wanted, merge, self._put))

    def _put(self, draft: Draft) -> None:
        self.draft = draft
        self.edited.emit(draft)


class _Edit(QtGui.QUndoCommand):
    def __init__(
        self, words: str, before: Draft, after: Draft, merge: int, put: Callable[[Draft], None]
    ) -> None:
        super().__init__(words)
        self._before, self._after, self._merge, self._put = before, after, merge, put

    def id(self) -> int:
        return self._merge

    def mergeWith(self, other: QtGui.QUndoCommand) -> bool:  # noqa: N802
        if not isinstance(other, _Edit):
            return False
        self._after = other._after
        return True

    def undo(self) -> None:
        self._put(self._before)

    def redo(self) -> None:
        self._put(self._after)
