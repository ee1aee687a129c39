"""The Stacks: saved ones on the left, the one being edited beside them.

What is shown here is the draft; the engine hears of it when it is saved or activated.
"""

from veneer.demo import embedded_base
from veneer.identity import Digest, short
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.operations import Latest
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import button
from veneer_app.parts.empty import Empty
from veneer_app.qt import QtCore, QtGui, QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.stacks.draft import Draft, difference, draft_of
from veneer_app.stacks.editor import Editor
from veneer_app.stacks.layout import StacksLayout
from veneer_app.stacks.lists import adapter_lines, stack_lines
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
        self._fits = Latest(services.operations, self)
        self._now = reads.StacksNow()
        self._judged: tuple[object, ...] = ()
        self.editor = Editor(self)
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
        self._latest.ask(reads.stacks, self._show)

    def open_stack(self, name: str) -> None:
        """Edit a saved stack."""
        found = next((c for c in self._now.saved if c.name == name), None)
        if found is not None:
            self.editor.open(name, draft_of(found))

    def new_stack(self) -> None:
        """Begin a new one on the first base, or on the base in use."""
        known = [b.digest for b in self._now.bases]
        base = self.editor.draft.base if self.editor.draft.base in known else None
        self.editor.start(base or next(iter(known), None))
        self.parts.name.setFocus()

    def save(self) -> None:
        """Save the draft under its name."""
        draft = self.editor.draft
        if draft.base is None:
            return
        name = draft.name.strip()
        if not name:
            self.parts.ask_for_name()
            return
        base = draft.base
        self._operations.do(
            lambda ws: ws.compose(base, draft.parts, name=name), lambda made: self._saved(made.name)
        )

    def activate(self) -> None:
        """Activate what is shown, saved or not."""
        draft = self.editor.draft
        if draft.base is not None:
            self._services.switch.to_parts(draft.base, draft.parts, draft.name)

    def remove(self) -> None:
        """Ask, then remove the stack; what it is made of stays."""
        name = self.editor.key
        if not name:
            self._open_something()
            return
        confirm(
            self,
            self.tr("Remove the stack “{name}”?").format(name=text.plain(name, 60)),
            self.tr("Its adapters stay in the library, and the history stays as it is."),
            self.tr("Remove"),
            lambda: self._operations.do(
                lambda ws: ws.stacks.forget(name), lambda _: self._removed(name)
            ),
        )

    def _offer_beginnings(self) -> None:
        bring = self.tr("Import files…")
        self.empty.add(button(bring, "import", kind="primary", on_click=self.import_wanted.emit))
        if embedded_base() is not None:
            use = self.tr("Use the embedded model")
            self.empty.add(button(use, "base", on_click=self._services.use_embedded))

    def _connect(self) -> None:
        parts = self.parts
        self.editor.edited.connect(self._edited)
        self._operations.changed.connect(self._changed)
        self._services.switch.stated.connect(self._switched)
        parts.stacks.selectionModel().currentRowChanged.connect(self._select)
        parts.search.textChanged.connect(self._show_adapters)
        parts.adapters.activated.connect(lambda index: self._add(parts.adapter_model.key_at(index)))
        parts.adder.menu().triggered.connect(lambda action: self._add(action.data()))
        parts.new.clicked.connect(self.new_stack)
        parts.save.clicked.connect(self.save)
        parts.activate.clicked.connect(self.activate)
        parts.remove.clicked.connect(self.remove)
        parts.name.textEdited.connect(self.editor.rename)
        for keys, act in (
            ("Ctrl+S", self.save),
            ("Ctrl+Return", self.activate),
            ("Ctrl+Z", self.editor.undo.undo),
            ("Ctrl+Shift+Z", self.editor.undo.redo),
        ):
            shortcut = QtGui.QShortcut(QtGui.QKeySequence(keys), self)
            shortcut.setContext(QtCore.Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    def _changed(self, changes: Changes) -> None:
        if changes.bases or changes.adapters or changes.compositions or changes.generations:
            if changes.adapters:
                self._judged = ()
            self.refresh()

    def _show(self, now: reads.StacksNow) -> None:
        self._now = now
        self.parts.show_editor(bool(now.bases))
        self.parts.pile.show_now(now)
        self._show_adapters()
        for saved in now.saved:
            self.editor.reread(saved.name or "", draft_of(saved))
        gone = self.editor.key and all(c.name != self.editor.key for c in now.saved)
        if gone or (self.editor.draft == Draft() and now.bases):
            self._open_something()
        else:
            self._edited(self.editor.draft)

    def _open_something(self) -> None:
        active = self._now.active.composition.name if self._now.active is not None else None
        names = [c.name or "" for c in self._now.saved]
        if active in names or names:
            self.open_stack(active if active in names and active else names[0])
        else:
            self.editor.start(next((b.digest for b in self._now.bases), None))

    def _saved(self, name: str | None) -> None:
        self.editor.rename(name or "")
        self.editor.saved_as(name or "")

    def _removed(self, name: str) -> None:
        self.editor.forget(name)
        self._open_something()

    def _select(self, index: QtCore.QModelIndex) -> None:
        key = self.parts.stack_model.key_at(index)
        if key and key != self.editor.key:
            self.open_stack(key)

    def _add(self, adapter: Digest | None) -> None:
        found = next((a for a in self._now.adapters if a.digest == adapter), None)
        if found is not None:
            self.editor.add(found.digest, found.default_scale)

    def _edited(self, draft: Draft) -> None:
        dirty = self.editor.dirty
        lines = stack_lines(self._now, self.editor.key, draft, dirty)
        self.parts.show_stacks(lines, self.editor.key)
        self.parts.show_head(draft, dirty)
        active = self._now.active
        running = draft_of(active.composition) if active is not None else None
        self.parts.against.setText(difference(draft, running, self._now.names))
        self._judge(draft)

    def _judge(self, draft: Draft) -> None:
        """Ask how the adapters fit, but only when the base or the adapters are others."""
        base = draft.base
        wanted = (base, *(a.digest for a in self._now.adapters))
        if base is not None and self._knows(base) and wanted != self._judged:
            self._judged = wanted
            self._fits.ask(lambda ws: reads.fits(ws, base), self.parts.pile.show_reports)

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
        """The adapters that an error names, with its sentence."""
        if state.status != "failed" or state.error is None:
            return {}
        said = text.reason(state.error)
        names = {a: self._now.names.get(a, short(a)) for a, _ in self.editor.draft.parts}
        return {adapter: said for adapter, name in names.items() if f"“{name}”" in said}
