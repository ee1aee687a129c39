"""Where everything in the Stacks is, and how it looks in each state."""

from collections.abc import Sequence

from veneer.store.records import StoredAdapter
from veneer_app import text
from veneer_app.parts import fields
from veneer_app.parts.controls import (
    Elided,
    button,
    column,
    frame,
    icon_button,
    label,
    row,
    scrolled,
    set_role,
)
from veneer_app.parts.lines import Line, Lines
from veneer_app.parts.rows import two_line_list
from veneer_app.qt import QtWidgets
from veneer_app.reads import Signed
from veneer_app.stacks.draft import BUDGET_LIMIT, Draft
from veneer_app.stacks.editor import Editor
from veneer_app.stacks.lists import AdapterLines
from veneer_app.stacks.memory import Memory
from veneer_app.stacks.menu import StackMenu
from veneer_app.stacks.pile import Pile
from veneer_app.stacks.steps import Steps
from veneer_app.switch import Switch

_LISTS = 232
_MOST_OFFERED = 30
DEFAULT_BUDGET = 1.0
translate = text.translate


class StacksLayout:
    """The controls of the Stacks. They do nothing by themselves; the place connects them."""

    def __init__(self, parent: QtWidgets.QWidget, editor: Editor, switch: Switch) -> None:
        self.stack_model = Lines(parent, editable=True)
        self.stacks = two_line_list(translate("Stacks", "Saved stacks"))
        self.stacks.setModel(self.stack_model)
        self.new = icon_button("plus", translate("Stacks", "New stack"))
        self.adapter_model = AdapterLines(parent)
        self.adapters = two_line_list(translate("Stacks", "Adapters; Enter adds one"))
        self.adapters.setModel(self.adapter_model)
        self.adapters.setDragEnabled(True)
        self.search = fields.line(
            translate("Stacks", "Search the adapters"), translate("Stacks", "Search")
        )
        self.name = fields.line(
            translate("Stacks", "Name of the stack"),
            translate("Stacks", "Name this stack"),
            "heading",
        )
        self.undo = icon_button("undo", translate("Stacks", "Undo (Ctrl+Z)"))
        self.redo = icon_button("redo", translate("Stacks", "Redo (Ctrl+Shift+Z)"))
        self.more = icon_button("more", translate("Stacks", "More about this stack"))
        self.menu = StackMenu(self.more)
        self.more.setMenu(self.menu)
        self.more.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.save = button(translate("Stacks", "Save"), tip="Ctrl+S")
        self.activate = button(
            translate("Stacks", "Activate"), "play", kind="primary", tip="Ctrl+Return"
        )
        self.combine = fields.choice(
            translate("Stacks", "How the adapters are combined"),
            [(translate("Stacks", "Sum"), False), (translate("Stacks", "Blend"), True)],
        )
        self.combine.setToolTip(
            translate("Stacks", "Blend shares a budget among the adapters by their strengths")
        )
        self.budget = fields.decimal(
            translate("Stacks", "What the strengths of the blend add up to"), 0.05, BUDGET_LIMIT
        )
        self.adder = button(translate("Stacks", "Add adapter"), "plus")
        self.adder.setMenu(QtWidgets.QMenu(self.adder))
        self.against = Elided(role="muted")
        self.memory = Memory()
        self.steps = Steps(switch)
        self.signed = label(role="muted", wrap=True, selectable=True)
        self.signed.hide()
        self.problem = label(role="bad", wrap=True, selectable=True)
        self.problem.hide()
        self.pile = Pile(editor)
        self._lists = self._make_lists()
        self._editor = self._make_editor()

    def whole(self, empty: QtWidgets.QWidget) -> QtWidgets.QHBoxLayout:
        """All of it, with what is shown while there is no base."""
        self._empty = empty
        made = row(empty, self._lists, self._editor, spacing=0)
        made.setStretch(2, 1)
        self._lists.hide()
        self._editor.hide()
        empty.hide()
        return made

    def show_editor(self, possible: bool) -> None:
        """The editor, or what to do first."""
        self._empty.setVisible(not possible)
        self._lists.setVisible(possible)
        self._editor.setVisible(possible)

    def show_stacks(self, lines: Sequence[Line], key: str) -> None:
        """The saved stacks, the one being edited selected."""
        self.stack_model.set_lines(lines)
        index = self.stack_model.index_of(key)
        if index != self.stacks.currentIndex():
            self.stacks.setCurrentIndex(index)

    def show_head(self, draft: Draft, editor: Editor) -> None:
        """Name and buttons."""
        if self.name.text() != draft.name:
            self.name.setText(draft.name)
        self.save.setEnabled(editor.dirty and draft.base is not None)
        self.menu.allow(saved=bool(editor.key), possible=draft.base is not None)
        self.show_blend(draft.blend)

    def show_signed(self, signed: Signed | None) -> None:
        """Whose signature is on the stack as it was saved, and what it is worth."""
        self.signed.setVisible(signed is not None)
        if signed is None:
            return
        if signed.standing == "broken":
            said = translate("Stacks", "The signature by {key} does not fit: it was changed since.")
        elif signed.standing == "trusted":
            said = translate("Stacks", "Signed by {whose}, whose key is trusted: {key}")
        else:
            said = translate("Stacks", "Signed by {key}, which nobody here trusts.")
        whose = text.plain(signed.whose, 40) or "?"
        self.signed.setText(said.format(key=signed.key, whose=whose))
        tones = {"broken": "bad", "trusted": "good"}
        set_role(self.signed, tones.get(signed.standing, "muted"))

    def show_blend(self, budget: float | None) -> None:
        """Sum, or blend and its budget."""
        fields.choose(self.combine, budget is not None)
        self.budget.setVisible(budget is not None)
        self.budget.blockSignals(True)
        self.budget.setValue(budget if budget is not None else DEFAULT_BUDGET)
        self.budget.blockSignals(False)

    def offer(self, adapters: Sequence[StoredAdapter]) -> None:
        """Fill the menu of the add button. The list has those that do not fit in here."""
        menu = self.adder.menu()
        menu.clear()
        for stored in adapters[:_MOST_OFFERED]:
            # An ampersand in a menu would underline the next letter.
            name = text.plain(stored.name, 48).replace("&", "&&")
            menu.addAction(name).setData(stored.digest)
        self.adder.setEnabled(bool(adapters))

    def ask_for_name(self) -> None:
        """A stack cannot be saved without one."""
        self.name.setFocus()
        self.name.setPlaceholderText(translate("Stacks", "Type a name, then save"))

    def _make_lists(self) -> QtWidgets.QFrame:
        upper = row(label(translate("Stacks", "Stacks"), "heading"), None, self.new)
        lower = label(translate("Stacks", "Adapters"), "heading")
        upper.setContentsMargins(8, 0, 4, 0)
        lower.setContentsMargins(8, 8, 0, 0)
        found = row(self.search)
        found.setContentsMargins(8, 0, 8, 0)
        inside = column(upper, self.stacks, lower, found, self.adapters)
        inside.setStretch(1, 3)
        inside.setStretch(4, 4)
        made = frame("panel", inside, (8, 16, 8, 8))
        made.setFixedWidth(_LISTS)
        return made

    def _make_editor(self) -> QtWidgets.QWidget:
        tools = row(self.undo, self.redo, self.more, spacing=4)
        head = row(self.name, tools, self.save, self.activate)
        head.setStretch(0, 1)
        # Beside a field, whose text begins after its frame and padding.
        under = row(10, self.against, self.combine, self.budget, self.adder)
        under.setStretch(1, 1)
        memory = row(10, self.memory, spacing=0)
        memory.setStretch(1, 1)
        problem = row(10, self.problem, spacing=0)
        problem.setStretch(1, 1)
        signed = row(10, self.signed, spacing=0)
        signed.setStretch(1, 1)
        top = column(head, under, signed, memory, self.steps, problem, spacing=8)
        top.setContentsMargins(14, 16, 24, 0)
        made = QtWidgets.QWidget()
        made.setLayout(column(top, scrolled(self.pile, translate("Stacks", "Cards")), spacing=8))
        return made
