"""Holds the draft that is being edited. Every edit can be undone; a look elsewhere loses nothing.

Each stack that was opened has a sheet of its own: its draft and the edits that led to it. An edit
replaces the whole draft, so undoing is putting the old one back.
"""

from collections.abc import Callable
from dataclasses import replace

from veneer.identity import Digest
from veneer_app.qt import QtCore, QtGui, Signal
from veneer_app.stacks import draft as drafts
from veneer_app.stacks.draft import Draft

_NAME = 1
_BLEND = 2
_FIRST_STRENGTH = 16
_STRENGTHS = 0x7FFFFFFF - _FIRST_STRENGTH


class Editor(QtCore.QObject):
    """One draft at a time; `edited` carries each new one. A key is a stack's name, or ""."""

    edited = Signal(object)

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.undo = QtGui.QUndoGroup(self)
        self.key = ""
        self._sheets: dict[str, _Sheet] = {}
        self._sheet = self._turn_to("", Draft())

    @property
    def draft(self) -> Draft:
        """What is being edited, as it is now."""
        return self._sheet.draft

    @property
    def dirty(self) -> bool:
        """Whether the draft differs from the stack it was opened from."""
        return not self.draft.means(self._sheet.saved)

    def open(self, key: str, saved: Draft) -> None:
        """Edit a stack, with the edits that were left in it."""
        self._turn_to(key, saved)
        self._sheet.saved = saved
        self.edited.emit(self.draft)

    def start(self, base: Digest | None) -> None:
        """Edit a new stack."""
        self.begin(Draft(base=base))

    def begin(self, draft: Draft) -> None:
        """Edit a new stack that may have something in it already.

        One that was begun before and never saved gives way, which can be undone.
        """
        self._turn_to("", Draft(base=draft.base))
        self._edit(self.tr("New stack"), draft)
        self.edited.emit(self.draft)

    def reread(self, key: str, saved: Draft) -> None:
        """A stack was saved, here or elsewhere: follow it unless there are edits of one's own."""
        sheet = self._sheets.get(key)
        if sheet is None:
            return
        untouched, sheet.saved = sheet.draft.means(sheet.saved), saved
        if untouched and not sheet.draft.means(saved):
            sheet.draft = saved
            sheet.edits.clear()
            if key == self.key:
                self.edited.emit(self.draft)

    def saved_as(self, name: str, saved: Draft) -> None:
        """The draft, as it was when it was handed over, is now the stack of this name."""
        if name != self.key:
            self.forget(name)
            self._sheets[name] = self._sheets.pop(self.key)
            self.key = name
        self._sheet.saved = saved
        self.edited.emit(self.draft)

    def renamed(self, old: str, new: str) -> None:
        """A stack has another name; the edits in it stay."""
        sheet = self._sheets.pop(old, None)
        if sheet is None:
            return
        self._sheets[new] = sheet
        sheet.saved = replace(sheet.saved, name=new)
        sheet.draft = replace(sheet.draft, name=new)
        if self.key == old:
            self.key = new
            self.edited.emit(self.draft)

    def forget(self, key: str) -> None:
        """A stack is gone, and the edits in it with it."""
        gone = self._sheets.pop(key, None)
        if gone is not None:
            gone.edits.deleteLater()

    def rename(self, name: str) -> None:
        """Give the draft another name."""
        self._edit(self.tr("Rename"), replace(self.draft, name=name), merge=_NAME)

    def set_base(self, base: Digest) -> None:
        """Put the draft on another base."""
        self._edit(self.tr("Change base"), replace(self.draft, base=base))

    def add(self, adapter: Digest, scale: float, at: int | None = None) -> None:
        """Add an adapter on top, or at a place."""
        self._edit(self.tr("Add"), drafts.with_adapter(self.draft, adapter, scale, at))

    def remove(self, adapter: Digest) -> None:
        """Take an adapter out."""
        self._edit(self.tr("Remove"), drafts.without(self.draft, adapter))

    def set_scale(self, adapter: Digest, scale: float) -> None:
        """Change a strength. Changes of the same one in a row are undone together."""
        wanted = drafts.with_scale(self.draft, adapter, scale)
        merge = _FIRST_STRENGTH + hash(adapter) % _STRENGTHS
        self._edit(self.tr("Change strength"), wanted, merge=merge)

    def set_on(self, adapter: Digest, on: bool) -> None:
        """Switch an adapter on or off."""
        self._edit(self.tr("Switch"), drafts.with_on(self.draft, adapter, on))

    def set_solo(self, adapter: Digest) -> None:
        """Let an adapter play alone, or the others play again."""
        self._edit(self.tr("Solo"), drafts.with_solo(self.draft, adapter))

    def set_blend(self, budget: float | None) -> None:
        """Blend the adapters within a budget, or (None) add them up."""
        merge = -1 if budget is None or self.draft.blend is None else _BLEND
        self._edit(self.tr("Blend"), drafts.with_blend(self.draft, budget), merge=merge)

    def move(self, adapter: Digest, to: int) -> None:
        """Move an adapter before the layer at a place."""
        self._edit(self.tr("Move"), drafts.moved(self.draft, adapter, to))

    def nudge(self, adapter: Digest, up: bool) -> None:
        """Move an adapter one place up or down."""
        here = self.draft.place_of(adapter)
        if here is not None:
            self.move(adapter, here + 2 if up else here - 1)

    def _turn_to(self, key: str, saved: Draft) -> "_Sheet":
        if key not in self._sheets:
            made = QtGui.QUndoStack(self)
            self.undo.addStack(made)
            self._sheets[key] = _Sheet(made, saved)
        self.key = key
        self._sheet = self._sheets[key]
        self._sheet.edits.setActive()
        return self._sheet

    def _edit(self, words: str, wanted: Draft, merge: int = -1) -> None:
        if wanted != self.draft:
            edit = _Edit(words, self.draft, wanted, merge, self._put)
            self._sheet.edits.push(edit)

    def _put(self, draft: Draft) -> None:
        # Only the sheet that is turned to can be edited, and so undone.
        self._sheet.draft = draft
        self.edited.emit(draft)


class _Sheet:
    def __init__(self, edits: QtGui.QUndoStack, saved: Draft) -> None:
        self.edits = edits
        self.saved = saved
        self.draft = saved


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
