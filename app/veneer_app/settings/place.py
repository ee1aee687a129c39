"""The Settings. Each is kept as soon as it is changed."""

from typing import Any

import msgspec

from veneer.store.settings import Settings
from veneer.workspace import VERSION, Workspace
from veneer_app.operations import Latest
from veneer_app.parts import fields
from veneer_app.parts.controls import Elided, button, column, frame, label, row, scrolled
from veneer_app.qt import QtCore, QtWidgets
from veneer_app.services import Services

_MEGABYTE = 1_000_000


class SettingsPlace(QtWidgets.QWidget):
    """Context, memory, appearance, and what this is."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("role", "place")
        self._operations = services.operations
        self._latest = Latest(services.operations, self)
        self._kept: Settings | None = None
        self._make_fields()
        self.root = Elided()
        self.build = label("", "muted", wrap=True, selectable=True)
        self.ask_build = button(self.tr("Ask llama.cpp"), on_click=self._ask_build)
        self._arrange()
        self._connect()
        self._operations.read(lambda ws: str(ws.root), self.root.setText)
        self._latest.ask(lambda ws: ws.settings, self._show)

    def _make_fields(self) -> None:
        self.n_ctx = fields.whole(self.tr("Context, in tokens"), 256, 1_048_576, 256)
        self.n_threads = fields.whole(self.tr("Threads"), 1, 512)
        self.n_gpu_layers = fields.whole(self.tr("Layers on the GPU"), 0, 999)
        self.type_kv = fields.choice(
            self.tr("Type of the KV cache"),
            [("f16", "f16"), ("f32", "f32"), ("q8_0", "q8_0")],
        )
        self.budget = fields.whole(self.tr("Memory budget, in megabytes"), 0, 4_000_000, 256)
        self.budget.setSpecialValueText(self.tr("What is free"))
        self.budget.setSuffix(" MB")
        self.theme = fields.choice(
            self.tr("Theme"),
            [
                (self.tr("Like the system"), "system"),
                (self.tr("Light"), "light"),
                (self.tr("Dark"), "dark"),
            ],
        )

    def _arrange(self) -> None:
        runtime = self._card(
            self.tr("Runtime"),
            self.tr("Takes effect at the next activation."),
            (
                (self.tr("Context (tokens)"), self.n_ctx),
                (self.tr("Threads"), self.n_threads),
                (self.tr("GPU layers"), self.n_gpu_layers),
                (self.tr("KV cache type"), self.type_kv),
                (self.tr("Memory budget"), self.budget),
            ),
        )
        looks = self._card(self.tr("Appearance"), "", ((self.tr("Theme"), self.theme),))
        runtime_build = QtWidgets.QWidget()
        runtime_build.setLayout(column(row(self.ask_build, None), self.build))
        about = self._card(
            self.tr("About"),
            "",
            (
                (self.tr("Workspace"), self.root),
                (self.tr("Veneer"), label(VERSION)),
                (self.tr("Qt"), label(QtCore.qVersion())),
                (self.tr("llama.cpp"), runtime_build),
            ),
        )
        self.build.hide()
        inside = QtWidgets.QWidget()
        cards = column(label(self.tr("Settings"), "title"), runtime, looks, about, None, spacing=16)
        holder = QtWidgets.QWidget()
        holder.setProperty("role", "clear")
        holder.setMaximumWidth(640)
        holder.setLayout(cards)
        layout = row(holder, None)
        layout.setStretch(0, 8)
        layout.setContentsMargins(24, 24, 24, 24)
        inside.setLayout(layout)
        self.setLayout(column(scrolled(inside, self.tr("Settings"))))

    def _card(
        self, title: str, note: str, lines: tuple[tuple[str, QtWidgets.QWidget], ...]
    ) -> QtWidgets.QFrame:
        made = column(label(title, "heading"), spacing=12)
        if note:
            made.addWidget(label(note, "muted"))
        for name, field in lines:
            caption = label(name)
            caption.setMinimumWidth(160)
            caption.setBuddy(field)
            if isinstance(field, QtWidgets.QComboBox | QtWidgets.QSpinBox):
                field.setFixedWidth(184)
            line = row(caption, field)
            if isinstance(field, Elided) or field.layout() is not None:
                line.setStretchFactor(field, 1)
            else:
                line.addStretch(1)
            made.addLayout(line)
        return frame("card", made)

    def _connect(self) -> None:
        for field in (self.n_ctx, self.n_threads, self.n_gpu_layers, self.budget):
            field.valueChanged.connect(self._keep)
        for choice in (self.type_kv, self.theme):
            choice.currentIndexChanged.connect(self._keep)

    def _show(self, settings: Settings) -> None:
        self._kept = None
        self.n_ctx.setValue(settings.n_ctx)
        self.n_threads.setValue(settings.n_threads)
        self.n_gpu_layers.setValue(settings.n_gpu_layers)
        self.budget.setValue(settings.memory_budget // _MEGABYTE)
        fields.choose(self.type_kv, settings.type_kv)
        fields.choose(self.theme, settings.theme)
        self._kept = settings

    def _keep(self) -> None:
        if self._kept is None:
            return
        chosen = msgspec.structs.replace(self._kept, **self._values())
        self._kept = chosen

        def keep(workspace: Workspace) -> Settings:
            workspace.change_settings(chosen)
            return chosen

        task = self._operations.change(lambda ws, progress, cancel: keep(ws))
        task.succeeded.connect(self._operations.settings_changed.emit)
        task.failed.connect(self._operations.refused)
        task.failed.connect(lambda error: self._latest.ask(lambda ws: ws.settings, self._show))

    def _values(self) -> dict[str, Any]:
        return {
            "n_ctx": self.n_ctx.value(),
            "n_threads": self.n_threads.value(),
            "n_gpu_layers": self.n_gpu_layers.value(),
            "memory_budget": self.budget.value() * _MEGABYTE,
            "type_kv": self.type_kv.currentData(),
            "theme": self.theme.currentData(),
        }

    def _ask_build(self) -> None:
        self.ask_build.setEnabled(False)
        task = self._operations.change(lambda ws, progress, cancel: ws.runtime_build())
        task.succeeded.connect(self._show_build)
        task.failed.connect(self._operations.refused)
        task.failed.connect(lambda error: self.ask_build.setEnabled(True))

    def _show_build(self, build: str) -> None:
        self.build.setText(build)
        self.build.show()
        self.ask_build.hide()
