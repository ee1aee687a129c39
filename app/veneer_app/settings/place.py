"""The Settings. Each is kept as soon as it is changed."""

from collections.abc import Sequence
from typing import Any

import msgspec

from veneer.store.settings import Settings
from veneer.workspace import Workspace
from veneer_app import languages
from veneer_app.operations import Latest
from veneer_app.parts.controls import Elided, button, column, frame, label, row, scrolled
from veneer_app.qt import QtGui, QtWidgets
from veneer_app.services import Services
from veneer_app.settings.about import About
from veneer_app.settings.bound import Bound, megabytes, number, one_of, words, yes_or_no
from veneer_app.settings.hub import HubToken
from veneer_app.settings.log import show_log
from veneer_app.settings.trusted import Trusted
from veneer_app.settings.watched import Watched

_CAPTION = 184


class SettingsPlace(QtWidgets.QWidget):
    """Runtime, memory, what a switch does, folders, appearance, and what this is."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._operations = services.operations
        self._latest = Latest(services.operations, self)
        self._kept: Settings | None = None
        self._cards = self._make_cards()
        self.bound = {bound.name: bound for _, _, group in self._cards for bound in group}
        self.watched = Watched(self.keep)
        self.trusted = Trusted(services.operations)
        self.hub = HubToken(services.operations)
        self.gpu_cost = label(
            self.tr(
                "With layers on a GPU, adapters take llama.cpp's own lane if it can run them. "
                "Veneer's lane copies each result that it edits from the GPU and back, which "
                "makes every token slower."
            ),
            "muted",
            wrap=True,
        )
        self.root = Elided()
        self.about = About(services.operations)
        self.log = button(self.tr("Show the log…"), on_click=self._show_log)
        self._arrange()
        for bound in self.bound.values():
            bound.on_change(self.keep)
        self._operations.read(lambda ws: str(ws.root), self.root.setText)
        self._operations.settings_changed.connect(self._show)
        self.refresh()

    def refresh(self) -> None:
        """Read the settings again."""
        self._latest.ask(lambda ws: ws.settings, self._show)

    def keep(self, **changed: Any) -> None:
        """Keep these settings; one that is refused goes back to what it was."""

        def work(workspace: Workspace) -> Settings:
            chosen = msgspec.structs.replace(workspace.settings, **changed)
            workspace.change_settings(chosen)
            return chosen

        task = self._operations.change(lambda ws, progress, cancel: work(ws))
        task.succeeded.connect(self._operations.settings_changed)
        task.failed.connect(self._operations.refused)
        task.failed.connect(lambda error: self.refresh())

    def _make_cards(self) -> tuple[tuple[str, str, tuple[Bound, ...]], ...]:
        next_time = self.tr("Takes effect at the next activation.")
        return (
            (self.tr("Runtime"), next_time, self._runtime()),
            (self.tr("Memory"), next_time, self._memory()),
            (self.tr("Switching"), "", self._switching()),
            (self.tr("Appearance"), "", self._appearance()),
        )

    def _runtime(self) -> tuple[Bound, ...]:
        kinds = [("f16", "f16"), ("f32", "f32"), ("q8_0", "q8_0")]
        lanes = [
            (self.tr("Whichever is faster"), "auto"),
            (self.tr("llama.cpp's own (stock)"), "stock"),
            (self.tr("Veneer's (overlay)"), "overlay"),
        ]
        return (
            number("n_ctx", self.tr("Context (tokens)"), 256, 1_048_576, 256),
            number("n_threads", self.tr("Threads"), 1, 512),
            number("n_gpu_layers", self.tr("Layers on the GPU"), 0, 999),
            words("device", self.tr("Only this GPU"), self.tr("Whichever there is")),
            one_of("type_kv", self.tr("KV cache type"), kinds),
            one_of("lane", self.tr("Lane of the adapters"), lanes),
        )

    def _memory(self) -> tuple[Bound, ...]:
        none = self.tr("None")
        return (
            megabytes("memory_budget", self.tr("Memory budget"), self.tr("What is free")),
            megabytes("adapters_budget", self.tr("For adapters kept loaded"), none),
            megabytes("kv_budget", self.tr("For conversations kept computed"), none),
            megabytes("kv_disk_budget", self.tr("The same, on disk"), none),
        )

    def _switching(self) -> tuple[Bound, ...]:
        during = [
            (self.tr("Stop the answer"), "cancel"),
            (self.tr("Refuse the switch"), "refuse"),
        ]
        return (
            one_of("on_switch", self.tr("While an answer is written"), during),
            yes_or_no(
                "require_signature",
                self.tr("Signatures"),
                self.tr("Activate only what a trusted key has signed"),
            ),
            number("keep_generations", self.tr("Generations to keep"), 1, 1_000_000),
        )

    def _appearance(self) -> tuple[Bound, ...]:
        modes = [
            (self.tr("Like the system"), "system"),
            (self.tr("Light"), "light"),
            (self.tr("Dark"), "dark"),
        ]
        spoken = [(self.tr("Like the system"), "system"), *languages.known()]
        return (
            one_of("theme", self.tr("Theme"), modes),
            one_of("language", self.tr("Language (from the next start)"), spoken),
        )

    def _arrange(self) -> None:
        cards = column(label(self.tr("Settings"), "title"), spacing=16)
        for title, note, group in self._cards:
            lines: list[tuple[str, QtWidgets.QWidget]] = [(b.caption, b.field) for b in group]
            if self.bound["lane"] in group:
                lines.append(("", self.gpu_cost))
            cards.addWidget(self._card(title, note, lines))
        folders = self.tr("What appears in them is imported when it is complete.")
        watched = self._card(self.tr("Watched folders"), folders, [("", self.watched)])
        private = self.tr(
            "Opens private repositories and those that ask for permission. The system's keyring "
            "keeps it, and no file."
        )
        token = self._card(self.tr("Hub"), private, [(self.tr("Token"), self.hub)])
        about = self._card(
            self.tr("About"),
            "",
            [
                (self.tr("Workspace"), self.root),
                (self.tr("Versions"), self.about),
                (self.tr("Worker"), self.log),
            ],
        )
        vouch = self.tr("Whose signatures count. “veneer key” shows your own key.")
        trusted = self._card(self.tr("Trusted keys"), vouch, [("", self.trusted)])
        for card in (watched, token, trusted, about):
            cards.addWidget(card)
        cards.addStretch(1)
        self.setLayout(column(scrolled(_narrow(cards), self.tr("Settings"))))

    def _card(
        self, title: str, note: str, lines: Sequence[tuple[str, QtWidgets.QWidget]]
    ) -> QtWidgets.QFrame:
        made = column(label(title, "heading"), spacing=12)
        if note:
            made.addWidget(label(note, "muted", wrap=True))
        for name, field in lines:
            line = row(_caption(name, field), field) if name else row(field)
            if isinstance(field, QtWidgets.QLabel | About | Watched | HubToken | Trusted):
                line.setStretchFactor(field, 1)
            else:
                line.addStretch(1)
            made.addLayout(line)
        return frame("card", made)

    def showEvent(self, event: QtGui.QShowEvent) -> None:  # noqa: N802
        """Somebody looks."""
        super().showEvent(event)
        self.hub.refresh()

    def _show(self, settings: Settings) -> None:
        self._kept = settings
        for bound in self.bound.values():
            bound.show(settings)
        self.watched.show_folders(settings.watched)
        self.gpu_cost.setVisible(settings.n_gpu_layers > 0 and settings.lane != "stock")

    def _show_log(self) -> None:
        show_log(self._operations, self)


def _caption(name: str, field: QtWidgets.QWidget) -> QtWidgets.QLabel:
    made = label(name, wrap=True)
    made.setFixedWidth(_CAPTION)
    made.setBuddy(field)
    return made


def _narrow(inside: QtWidgets.QLayout) -> QtWidgets.QWidget:
    """As wide as lines are read comfortably, at the side where reading begins."""
    holder = QtWidgets.QWidget()
    holder.setProperty("role", "clear")
    holder.setMaximumWidth(680)
    holder.setLayout(inside)
    layout = row(holder, None)
    layout.setStretch(0, 8)
    layout.setContentsMargins(24, 24, 24, 24)
    made = QtWidgets.QWidget()
    made.setLayout(layout)
    return made
