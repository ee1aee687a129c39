"""The Stacks: saved ones on the left, the one being edited beside them.

What is shown here is the draft; the engine hears of it when it is saved or activated.
"""

from veneer.demo import embedded_base
from veneer.errors import VeneerError
from veneer.identity import Digest
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.operations import Latest
from veneer_app.parts.controls import button
from veneer_app.parts.empty import Empty
from veneer_app.parts.keys import key
from veneer_app.qt import QtCore, QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.stacks.draft import Draft, difference, draft_of
from veneer_app.stacks.editor import Editor
from veneer_app.stacks.layout import DEFAULT_BUDGET, StacksLayout
from veneer_app.stacks.lists import adapter_lines, stack_lines
from veneer_app.stacks.menu import StackMenu
from veneer_app.stacks.shelf import Shelf
from veneer_app.switch import SwitchState


class StacksPlace(QtWidgets.QWidget):
    """Makes, saves and activates stacks."""

    import_wanted = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._services = services
        self._operations = services.operations
        self._latest = Latest(services.operations, self)
        self._room = Latest(services.operations, self)
        self._now = reads.StacksNow()
        self._asked_room: tuple[object, ...] = ()
        self.editor = Editor(self)
        self.shelf = Shelf(self, services.operations, self.editor)
        self.parts = StacksLayout(self, self.editor, services.switch)
        self.empty = Empty(
            "stacks",
            self.tr("A stack begins with a base"),
            self.tr("Drop a GGUF model onto this window; then adapters can be laid over it."),
        )
        self._offer_beginnings()
        self.setLayout(self.parts.whole(self.empty))
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        """Look at the stacks and the library again."""
        self._latest.ask(reads.stacks, self.show_now)

    def open_stack(self, name: str) -> None:
        """Edit a saved stack."""
        found = self._now.stack(name)
        if found is not None:
            self.editor.open(name, draft_of(found))

    def new_stack(self) -> None:
        """Begin a new one on the first base, or on the base in use."""
        known = [b.digest for b in self._now.bases]
        base = self.editor.draft.base if self.editor.draft.base in known else None
        self.editor.start(base or next(iter(known), None))
        self.parts.name.setFocus()

    def add(self, adapter: Digest | None) -> None:
        """Put an adapter of the library on top, at its default strength."""
        found = next((a for a in self._now.adapters if a.digest == adapter), None)
        if found is not None:
            self.editor.add(found.digest, found.default_scale)

    def activate(self) -> None:
        """Activate what is shown, saved or not."""
        draft = self.editor.draft
        if draft.base is not None:
            self._services.switch.to_parts(draft.base, draft.parts, draft.name)

    def _offer_beginnings(self) -> None:
        bring = self.tr("Import files…")
        self.empty.add(button(bring, "import", kind="primary", on_click=self.import_wanted.emit))
        if embedded_base() is not None:
            use = self.tr("Use the embedded model")
            self.empty.add(button(use, "base", on_click=self._services.use_embedded))

    def _connect(self) -> None:
        parts, shelf = self.parts, self.shelf
        self.editor.edited.connect(self._edited)
        self._operations.changed.connect(self._changed)
        self._operations.settings_changed.connect(self._weigh_again)
        self._services.switch.stated.connect(self._switched)
        self._services.verdicts.found.connect(self._show_verdicts)
        shelf.nameless.connect(parts.ask_for_name)
        shelf.gone.connect(self._removed)
        parts.stacks.selectionModel().currentRowChanged.connect(self._select)
        for asked in (parts.stacks.activated, parts.stacks.clicked):
            asked.connect(self._ask_about)
        parts.stack_model.renamed.connect(self._rename)
        parts.search.textChanged.connect(self._show_adapters)
        parts.adapters.activated.connect(lambda index: self.add(parts.adapter_model.key_at(index)))
        parts.adder.menu().triggered.connect(lambda action: self.add(action.data()))
        parts.new.clicked.connect(self.new_stack)
        parts.save.clicked.connect(shelf.save)
        parts.activate.clicked.connect(self.activate)
        undo = self.editor.undo
        for tool, act, can, possible in (
            (parts.undo, undo.undo, undo.canUndo, undo.canUndoChanged),
            (parts.redo, undo.redo, undo.canRedo, undo.canRedoChanged),
        ):
            tool.setEnabled(can())
            tool.clicked.connect(act)
            possible.connect(tool.setEnabled)
        parts.name.textEdited.connect(self.editor.rename)
        parts.combine.currentIndexChanged.connect(self._combine)
        parts.budget.valueChanged.connect(self.editor.set_blend)
        self._connect_menu(parts.menu)
        self._connect_keys()

    def _connect_menu(self, menu: StackMenu) -> None:
        menu.duplicate.triggered.connect(self.shelf.duplicate)
        menu.rename.triggered.connect(self._rename_here)
        menu.export.triggered.connect(self.shelf.export)
        menu.remove.triggered.connect(self.shelf.remove)
        menu.pin_wanted.connect(self.shelf.pin)

    def _connect_keys(self) -> None:
        for keys, act in (
            ("Ctrl+S", self.shelf.save),
            ("Ctrl+Return", self.activate),
            ("Ctrl+Z", self.editor.undo.undo),
            ("Ctrl+Shift+Z", self.editor.undo.redo),
            ("Ctrl+Y", self.editor.undo.redo),
            ("Ctrl+D", self.shelf.duplicate),
            ("Ctrl+N", self.new_stack),
        ):
            key(self, keys, act)

    def _changed(self, changes: Changes) -> None:
        if changes.bases or changes.adapters or changes.compositions or changes.generations:
            # What runs already needs no more memory, so each switch changes what there is.
            self._asked_room = ()
            self.refresh()

    def show_now(self, now: reads.StacksNow) -> None:
        """Show exactly this."""
        self._now = self.shelf.now = now
        self.parts.show_editor(bool(now.bases))
        self.parts.pile.show_now(now)
        self._show_adapters()
        for saved in now.saved:
            self.editor.reread(saved.name or "", draft_of(saved))
        gone = self.editor.key and now.stack(self.editor.key) is None
        if gone:
            self.editor.forget(self.editor.key)
        if gone or (self.editor.draft == Draft() and now.bases):
            self._open_something()
        else:
            self._edited(self.editor.draft)

    def _open_something(self, without: str | None = None) -> None:
        active = self._now.active.composition.name if self._now.active is not None else None
        names = [c.name or "" for c in self._now.saved if c.name != without]
        if active in names or names:
            self.open_stack(active if active in names and active else names[0])
        else:
            self.editor.start(next((b.digest for b in self._now.bases), None))

    def _removed(self, name: str) -> None:
        self.editor.forget(name)
        if name == self.editor.key:
            self._open_something(without=name)

    def _rename(self, old: object, new: str) -> None:
        if old == "":
            self.editor.rename(new)
        elif isinstance(old, str):
            self.shelf.rename(old, new)

    def _rename_here(self) -> None:
        self.parts.stacks.setFocus()
        self.parts.stacks.edit(self.parts.stacks.currentIndex())

    def _combine(self) -> None:
        blend = self.parts.combine.currentData()
        self.editor.set_blend(DEFAULT_BUDGET if blend else None)

    def _select(self, index: QtCore.QModelIndex) -> None:
        key = self.parts.stack_model.key_at(index)
        if key and key != self.editor.key and isinstance(key, str):
            self.open_stack(key)

    def _ask_about(self, index: QtCore.QModelIndex) -> None:
        key = self.parts.stack_model.key_at(index)
        for broken in self._now.unreadable:
            if key == (broken.name,):
                self.shelf.ask_about(broken)

    def _edited(self, draft: Draft) -> None:
        dirty = self.editor.dirty
        lines = stack_lines(self._now, self.editor.key, draft, dirty)
        self.parts.show_stacks(lines, self.editor.key)
        self.parts.show_head(draft, self.editor)
        self.parts.show_signed(self._now.signed.get(self.editor.key))
        self.parts.menu.show_pins(self._now.pins, self.editor.key)
        active = self._now.active
        running = draft_of(active.composition) if active is not None else None
        self.parts.against.setText(difference(draft, running, self._now.names))
        self._judge(draft)
        self._weigh(draft)

    def _weigh_again(self) -> None:
        self._asked_room = ()
        self._weigh(self.editor.draft)

    def _weigh(self, draft: Draft) -> None:
        """Ask how much memory it needs, but only when it needs another amount."""
        known = {a.digest for a in self._now.adapters}
        base, adapters = draft.base, [a for a, _ in draft.parts if a in known]
        wanted = (base, *adapters)
        if base is None or not self._knows(base):
            self.parts.memory.show_room(None)
        elif wanted != self._asked_room:
            self._asked_room = wanted
            self._room.ask(lambda ws: ws.room(base, adapters), self.parts.memory.show_room)

    def _judge(self, draft: Draft) -> None:
        """Show how the adapters in it fit, as far as it is known, and ask for the rest."""
        base = draft.base
        if base is not None and self._knows(base):
            self._services.verdicts.want(base, [layer.adapter for layer in draft.layers])
        self._show_verdicts(base)

    def _show_verdicts(self, base: str | None) -> None:
        if base == self.editor.draft.base:
            self.parts.pile.show_reports(self._services.verdicts.on(self.editor.draft.base))

    def _knows(self, base: Digest) -> bool:
        return any(stored.digest == base for stored in self._now.bases)

    def _show_adapters(self) -> None:
        searched = self.parts.search.text()
        self.parts.adapter_model.set_lines(adapter_lines(self._now.adapters, searched))
        self.parts.offer(self._now.adapters)

    def _switched(self, state: SwitchState) -> None:
        self.parts.activate.setEnabled(state.status != "running")
        self.parts.pile.show_problems(self._blame(state))
        self.parts.problem.setText(text.reason(state.error) if state.error is not None else "")
        self.parts.problem.setVisible(state.status == "failed" and not self._blame(state))

    def _blame(self, state: SwitchState) -> dict[Digest, str]:
        """The adapter that an error is about, with its sentence."""
        error = state.error
        if state.status != "failed" or not isinstance(error, VeneerError) or error.digest is None:
            return {}
        at_fault = Digest(error.digest)
        here = self.editor.draft.place_of(at_fault) is not None
        return {at_fault: text.reason(error)} if here else {}
