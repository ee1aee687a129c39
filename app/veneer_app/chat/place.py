"""The Chat: conversations at the left, the transcript, what answers, and the input."""

from veneer.chat.conversation import Conversation
from veneer.demo import embedded_base
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.chat.composer import Composer
from veneer_app.chat.session import Session
from veneer_app.chat.switcher import Switcher
from veneer_app.chat.transcript import Live, Transcript
from veneer_app.chat.turns import Turn, entries
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import button, column, frame, icon_button, row
from veneer_app.parts.empty import Empty
from veneer_app.parts.keys import key
from veneer_app.parts.lines import Line, Lines
from veneer_app.parts.rows import two_line_list
from veneer_app.qt import QtCore, QtWidgets, Signal
from veneer_app.services import Services

_EDIT = QtWidgets.QAbstractItemView.EditTrigger


class ChatPlace(QtWidgets.QWidget):
    """Talking to whatever is active."""

    import_wanted = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._services = services
        self._has_base = False
        self._failure = ""
        self.session = Session(services.operations)
        self.lines = Lines(self, editable=True)
        self.view = two_line_list(self.tr("Conversations"))
        self.view.setModel(self.lines)
        self.view.setEditTriggers(_EDIT.DoubleClicked | _EDIT.EditKeyPressed)
        self.transcript = Transcript()
        self.switcher = Switcher(services)
        self.composer = Composer()
        self.first, self.begin = self._first(), self._begin()
        self._arrange()
        self._connect()
        self._look()
        self.session.refresh()

    def open_newest(self) -> None:
        """Open the conversation at the top of the list, if there is one."""
        if self.lines.lines:
            self.view.setCurrentIndex(self.lines.index(0))

    def _arrange(self) -> None:
        new = button(self.tr("New conversation"), "plus", on_click=self._new)
        self.rename = icon_button("edit", self.tr("Rename (F2)"), self._rename)
        self.delete = icon_button("trash", self.tr("Delete this conversation"), self._ask_delete)
        tools = row(None, self.rename, self.delete, spacing=4)
        left = frame("panel", column(new, self.view, tools), (8, 16, 8, 8))
        left.setFixedWidth(224)
        foot = QtWidgets.QWidget()
        foot.setMaximumWidth(760)
        inside = column(self.switcher, self.composer, spacing=0)
        inside.setContentsMargins(24, 0, 24, 16)
        foot.setLayout(inside)
        across = row(None, foot, None, spacing=0)
        across.setStretch(1, 100)
        self._talk = QtWidgets.QWidget()
        layout = column(self.begin, self.transcript, across, spacing=0)
        layout.setStretch(0, 1)
        layout.setStretch(1, 1)
        self._talk.setLayout(layout)
        self._work = QtWidgets.QWidget()
        self._work.setLayout(row(left, self._talk, spacing=0))
        self.setLayout(row(self.first, self._work, spacing=0))
        self._work.hide()
        self.first.hide()

    def _connect(self) -> None:
        session = self.session
        session.listed.connect(self._list)
        session.shown.connect(self._show)
        session.began.connect(self._began)
        session.ended.connect(self._ended)
        session.stream.grew.connect(self._grew)
        self.lines.renamed.connect(session.rename)
        self.view.selectionModel().currentChanged.connect(self._select)
        self.composer.send_wanted.connect(self._send)
        self.composer.stop_wanted.connect(session.stop)
        self._services.operations.changed.connect(self._changed)
        key(self, "Esc", session.stop)

    def _first(self) -> Empty:
        made = Empty(
            "chat",
            self.tr("Welcome to Veneer"),
            self.tr(
                "Drop a GGUF model onto this window and talk to it. Then drop LoRA adapters, "
                "stack them over it, and switch with one click."
            ),
        )
        if embedded_base() is not None:
            use = self.tr("Use the embedded model")
            made.add(button(use, "base", kind="primary", on_click=self._services.use_embedded))
        made.add(button(self.tr("Import files…"), "import", on_click=self.import_wanted.emit))
        return made

    def _begin(self) -> Empty:
        return Empty("chat", "", "")

    def _say_begin(self, running: bool) -> None:
        if running:
            self.begin.say(
                self.tr("Ask something"),
                self.tr("The stack that is marked below answers. Click another to switch."),
            )
        else:
            self.begin.say(
                self.tr("Nothing is running yet"),
                self.tr("Click the base or a stack below; then it answers."),
            )

    def _look(self) -> None:
        self._services.operations.read(reads.start, self._show_start)

    def _show_start(self, start: reads.Start) -> None:
        self._has_base = start.has_base
        self._say_begin(start.running)
        self.first.setVisible(not start.has_base)
        self._work.setVisible(start.has_base)

    def _changed(self, changes: Changes) -> None:
        if changes.bases or changes.generations:
            self._look()
        if changes.compositions:
            self.session.reload()

    def _list(self, conversations: tuple[Conversation, ...]) -> None:
        self.lines.set_lines(
            [Line(c.id, text.plain(c.title, 60), text.when(c.created_at)) for c in conversations]
        )
        self._mark_current()

    def _mark_current(self) -> None:
        index = self.lines.index_of(self.session.current)
        if index != self.view.currentIndex():
            self.view.setCurrentIndex(index)
        for part in (self.rename, self.delete):
            part.setEnabled(index.isValid())

    def _select(self, index: QtCore.QModelIndex) -> None:
        number = self.lines.key_at(index)
        if number is not None and number != self.session.current:
            self._failure = ""
            self.session.open(number)
            self._mark_current()

    def _show(self, talked: reads.Talked | None) -> None:
        found = entries(talked) if talked is not None else ()
        asking, live = self.session.live, None
        if asking is not None:
            last = found[-1] if found else None
            there = isinstance(last, Turn) and (last.role, last.text) == ("user", asking.question)
            live = Live(None if there else asking.question, self.session.stream.text)
        self.transcript.show_entries(found, live)
        if live is None and self._failure:
            self.transcript.complain(self._failure)
        self._show_begin(not found and live is None)

    def _show_begin(self, nothing: bool) -> None:
        self.begin.setVisible(nothing)
        self.transcript.setVisible(not nothing)

    def _began(self) -> None:
        self._failure = ""
        self.composer.set_busy(True)
        live = self.session.live
        if live is not None:
            self.transcript.show_live(Live(live.question, ""))
            self._show_begin(False)
        self._mark_current()

    def _grew(self, said: str) -> None:
        if self.session.live is not None:
            self.transcript.grow(said)

    def _ended(self, error: BaseException | None) -> None:
        self.composer.set_busy(False)
        if error is not None:
            self._failure = f"{text.reason(error)} [{text.code(error)}]"
            self.session.reload()

    def _send(self, question: str) -> None:
        if self.session.send(question, self.composer.panel.chosen):
            self.composer.input.clear()

    def _new(self) -> None:
        self._failure = ""
        self.session.open(None)
        self._mark_current()
        self.composer.setFocus()

    def _rename(self) -> None:
        self.view.edit(self.view.currentIndex())

    def _ask_delete(self) -> None:
        number = self.session.current
        if number is None:
            return
        confirm(
            self,
            self.tr("Delete this conversation?"),
            self.tr("Its messages are gone for good."),
            self.tr("Delete"),
            lambda: self.session.delete(number),
        )
