"""The Chat: conversations at the left, the transcript, what answers, and the input."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from veneer.chat.setup import Setup
from veneer.demo import embedded_base
from veneer.store.changes import Changes
from veneer_app import reads, text
from veneer_app.chat.bubbles import Wish
from veneer_app.chat.compare import ComparePage
from veneer_app.chat.composer import Composer
from veneer_app.chat.conversations import Conversations
from veneer_app.chat.hints import Hints
from veneer_app.chat.maker import Maker
from veneer_app.chat.session import Ask, Asking, Session
from veneer_app.chat.switcher import Switcher
from veneer_app.chat.transcript import Live, Transcript
from veneer_app.chat.turns import Entry, Filled, Made, Turn, entries, filled, step
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import button, column, row
from veneer_app.parts.empty import Empty
from veneer_app.parts.keys import key
from veneer_app.qt import QtWidgets, Signal
from veneer_app.services import Services
from veneer_app.welcome.first import FirstRun

_WIDTH = 760


class ChatPlace(QtWidgets.QWidget):
    """Talking to whatever is active."""

    import_wanted = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._services = services
        self._talked: reads.Talked | None = None
        self._failure = ""
        self._reveal: int | None = None
        self.session = Session(services.operations)
        self.list = Conversations(self.session)
        self.transcript = Transcript()
        self.switcher = Switcher(services)
        self.composer = Composer(services.operations)
        self.hints = Hints(services.operations)
        self.compare = ComparePage(services, self.session)
        self.compare.setup = lambda: self.composer.panel.setup
        self.first, self.begin = FirstRun(services), Empty("chat", "", "")
        self.no_base = self._no_base()
        self._arrange()
        self._connect()
        self._give_keys()
        self._look()
        self.session.refresh()

    def take(self, paths: Sequence[Path]) -> None:
        """Put text files with the next question."""
        self.composer.files.add(paths)
        self.composer.setFocus()

    def _arrange(self) -> None:
        foot = QtWidgets.QWidget()
        foot.setMaximumWidth(_WIDTH)
        inside = column(self.switcher, self.hints, self.composer, spacing=0)
        inside.setContentsMargins(24, 0, 24, 16)
        foot.setLayout(inside)
        across = row(None, foot, None, spacing=0)
        across.setStretch(1, 100)
        talk = QtWidgets.QWidget()
        layout = column(self.begin, self.transcript, across, spacing=0)
        layout.setStretch(0, 1)
        layout.setStretch(1, 1)
        talk.setLayout(layout)
        self.pages = QtWidgets.QStackedWidget()
        self.pages.addWidget(talk)
        self.pages.addWidget(self.compare)
        self._work = QtWidgets.QWidget()
        self._work.setLayout(row(self.list, self.pages, spacing=0))
        self.setLayout(row(self.first, self.no_base, self._work, spacing=0))
        for part in (self.first, self.no_base, self._work):
            part.hide()

    def _connect(self) -> None:
        session = self.session
        session.shown.connect(self._show)
        session.began.connect(self._began)
        session.ended.connect(self._ended)
        session.stream.grew.connect(self._grew)
        self.list.opened.connect(self._open)
        self.list.new_wanted.connect(self.new)
        self.switcher.chosen.connect(self.composer.setFocus)
        self.transcript.wished.connect(self._fulfil)
        self.transcript.inspected.connect(self._inspect)
        self.composer.send_wanted.connect(self._ask)
        self.composer.stop_wanted.connect(session.stop)
        self.composer.edit_wanted.connect(self._edit_last)
        self.composer.compare_wanted.connect(self._open_compare)
        self.compare.left.connect(self._leave_compare)
        self.composer.panel.settled.connect(session.set_up)
        self.composer.held_so.connect(self.hints.show_system)
        self.hints.trigger_wanted.connect(self.composer.insert)
        self.hints.prompt_wanted.connect(self.composer.panel.use_system)
        self.first.import_wanted.connect(self.import_wanted)
        self.first.greeted.connect(self._greet)
        self.first.ended.connect(self._look)
        self._services.operations.changed.connect(self._changed)

    def _give_keys(self) -> None:
        key(self.composer, "Esc", self._escape)
        key(self.composer, "Ctrl+K", self._open_compare)
        key(self, "Ctrl+N", self.new)
        key(self, "Ctrl+F", self.list.begin_search)
        key(self, "Ctrl+Shift+E", self.list.ask_where)
        key(self.composer, "Ctrl+;", self.composer.open_panel)
        key(self.composer, "Ctrl+R", self._again_last)
        key(self.composer, "Ctrl+Return", self._go_on_last)
        key(self.composer, "Ctrl+Shift+C", self._copy_last)
        key(self.composer, "Alt+Left", lambda: self._step(-1))
        key(self.composer, "Alt+Right", lambda: self._step(1))

    def _no_base(self) -> Empty:
        made = Empty(
            "chat",
            self.tr("No model yet"),
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
        self._say_begin(start.running)
        first = self.first.follow(start)
        self.first.setVisible(first)
        self.no_base.setVisible(not first and not start.has_base)
        self._work.setVisible(not first and start.has_base)

    def _greet(self, said: str) -> None:
        """Ask the first question of the first run, and show what is answered."""
        self._look()
        self._ask(Ask("say", said))
        self.composer.setFocus()

    def _changed(self, changes: Changes) -> None:
        if changes.bases or changes.generations:
            self._look()
        if changes.compositions:
            self.session.reload()

    def new(self) -> None:
        """Begin another conversation with the next question."""
        self._leave_compare()
        self._failure = ""
        self.composer.clear()
        self.session.open(None)
        self.list.mark(None)
        self.composer.setFocus()

    def _open(self, number: int, node: int | None) -> None:
        """Open a conversation; with a node, on a way through it, and scroll to it."""
        self._failure = ""
        self.pages.setCurrentIndex(0)
        self.composer.leave_edit()
        self._reveal = node
        self.session.open(number)
        self.list.mark(number)

    def _show(self, talked: reads.Talked | None) -> None:
        self._hold(talked)
        self._talked = talked
        live = self._live()
        found = self._entries(live)
        self.transcript.show_entries(found, live)
        self.composer.meter.show_filled(
            filled(talked.conversation) if talked is not None else Filled()
        )
        if live is None and self._failure:
            self.transcript.complain(self._failure)
        self._show_begin(not found and live is None)
        self._go_to_found(talked)

    def _hold(self, talked: reads.Talked | None) -> None:
        """Show how another conversation is held; the same one may just be being changed."""
        before = self._talked.conversation.id if self._talked is not None else None
        now = talked.conversation.id if talked is not None else None
        if now != before and not self.session.busy:
            self.composer.panel.show_setup(
                talked.conversation.setup if talked is not None else Setup()
            )
            self.composer.show_held()

    def _go_to_found(self, talked: reads.Talked | None) -> None:
        """Go to the message that was searched for, on another way if need be."""
        node = self._reveal
        if talked is None or node is None:
            return
        if any(n.id == node for n in talked.conversation.path):
            self._reveal = None
            self.transcript.reveal(node)
        elif talked.conversation.path_to(node):
            self.session.show_way(node)

    def _entries(self, live: Live | None) -> tuple[Entry, ...]:
        """What is kept, as far as it is not about to be said in other words."""
        if self._talked is None:
            return ()
        asking = self.session.live
        if asking is None or live is None:
            return entries(self._talked)
        deed, node = asking.ask.deed, asking.ask.node
        found = entries(self._talked, before=node if deed in ("resay", "go_on") else None)
        if deed == "again":
            found = _up_to_question(found, node)
        last = found[-1] if found else None
        if isinstance(last, Turn) and last.open:
            return (*found[:-1], replace(last, open=False))
        return found

    def _live(self) -> Live | None:
        asking = self.session.live
        if asking is None:
            return None
        return Live(self._question(asking), self.session.stream.text)

    def _question(self, asking: Asking) -> Turn | None:
        """The question that is being answered, unless it is kept already."""
        ask = asking.ask
        if ask.deed in ("again", "go_on"):
            return None
        path = self._talked.conversation.path if self._talked is not None else ()
        last = path[-1].message if path else None
        if last is not None and (last.role, last.text) == ("user", ask.text):
            return None
        return Turn("user", ask.text, files=tuple(text.plain(f.name, 60) for f in ask.files))

    def _show_begin(self, nothing: bool) -> None:
        self.begin.setVisible(nothing)
        self.transcript.setVisible(not nothing)

    def _began(self) -> None:
        self._failure = ""
        self.composer.set_busy(True)
        live = self._live()
        if live is not None:
            self.transcript.show_entries(self._entries(live), live)
            self._show_begin(False)
        self.list.mark(self.session.current)

    def _grew(self, said: str) -> None:
        if self.session.live is not None:
            self.transcript.grow(said)

    def _ended(self, error: BaseException | None) -> None:
        self.composer.set_busy(False)
        if error is not None:
            self._failure = f"{text.reason(error)} [{text.code(error)}]"
            self.session.reload()

    def _ask(self, ask: Ask) -> None:
        if self.session.ask(ask, self.composer.panel.setup):
            self.composer.clear()

    def _escape(self) -> None:
        if self.session.busy:
            self.session.stop()
        else:
            self.composer.leave_edit()

    def _fulfil(self, wish: Wish) -> None:
        setup = self.composer.panel.setup
        match wish.verb:
            case "edit":
                self._edit(wish.node)
            case "again":
                self.session.ask(Ask("again", node=wish.node), setup)
            case "go_on":
                self.session.ask(Ask("go_on", node=wish.node, begun=wish.turn.text), setup)
            case "show":
                self.session.show_way(wish.node)
            case "delete":
                confirm(
                    self,
                    self.tr("Delete from here on?"),
                    self.tr("This message and all that follows it are gone for good."),
                    self.tr("Delete"),
                    lambda: self.session.delete_message(wish.node),
                )

    def _edit(self, node: int) -> None:
        path = self._talked.conversation.path if self._talked is not None else ()
        for kept in path:
            if kept.id == node:
                self.composer.edit(node, kept.message.text, kept.message.attachments)

    def _edit_last(self) -> None:
        if self.transcript.questions and not self.session.busy:
            self.transcript.questions[-1].wish("edit")

    def _again_last(self) -> None:
        bubbles = self.transcript.answers or self.transcript.questions
        if bubbles:
            bubbles[-1].wish("again")

    def _go_on_last(self) -> None:
        answers = self.transcript.answers
        if answers and answers[-1].turn.short:
            answers[-1].wish("go_on")

    def _copy_last(self) -> None:
        if self.transcript.answers:
            self.transcript.answers[-1].copy()

    def _step(self, by: int) -> None:
        """Show what lies beside the last message beside which something lies."""
        bubbles = [*self.transcript.questions, *self.transcript.answers]
        for bubble in sorted(bubbles, key=lambda bubble: bubble.turn.node, reverse=True):
            if len(bubble.turn.beside) > 1:
                node = step(bubble.turn, by)
                if node is not None:
                    self.session.show_way(node)
                return

    def _open_compare(self) -> None:
        """With what is being written, or the last question."""
        written = self.composer.input.toPlainText().strip()
        questions = self.transcript.questions
        self.pages.setCurrentWidget(self.compare)
        self.compare.open(written or (questions[-1].turn.text if questions else ""))

    def _leave_compare(self) -> None:
        self.pages.setCurrentIndex(0)
        self.composer.setFocus()

    def _inspect(self, made: Made, anchor: QtWidgets.QWidget) -> None:
        Maker(self, self._services, made).open_at(anchor)


def _up_to_question(found: tuple[Entry, ...], node: int) -> tuple[Entry, ...]:
    """Everything up to a question, given itself or an answer to it."""
    for number, entry in enumerate(found):
        if isinstance(entry, Turn) and entry.node == node:
            return found[: number + 1] if entry.role == "user" else found[:number]
    return found
