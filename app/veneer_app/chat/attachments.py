"""The text files that go along with the next question."""

from collections.abc import Sequence
from pathlib import Path

from veneer.chat.conversation import Attachment
from veneer_app import text
from veneer_app.operations import Operations
from veneer_app.parts.controls import button, clear, row
from veneer_app.qt import QtWidgets, Signal

_SUFFIXES = (
    "txt md markdown rst org tex log csv tsv json jsonl yaml yml toml ini cfg conf xml html htm "
    "css scss svg py pyi ipynb js mjs ts tsx jsx c h cc cpp hpp cs java kt go rs rb php pl lua r "
    "jl swift scala sh bash zsh ps1 bat sql diff patch srt vtt bib"
)
_TEXTS = frozenset(f".{suffix}" for suffix in _SUFFIXES.split())
_CONFIGS = frozenset({"adapter_config.json", "adapter_model.json", "config.json"})


class Attachments(QtWidgets.QWidget):
    """A button for each file, which takes it away again."""

    changed = Signal()

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._row = row()
        self.files: tuple[Attachment, ...] = ()
        self.setLayout(row(self._row, None, spacing=0))
        self.hide()

    def add(self, paths: Sequence[Path]) -> None:
        """Read files and put them with the rest; one that is no text is refused in the bar."""
        for path in paths:
            self._operations.read(lambda ws, path=path: ws.attach(path), self._added)

    def set_files(self, files: tuple[Attachment, ...]) -> None:
        """Have exactly these."""
        self.files = files
        clear(self._row)
        for file in files:
            self._row.addWidget(self._chip(file))
        self.setVisible(bool(files))
        self.changed.emit()

    def _added(self, file: Attachment) -> None:
        others = tuple(f for f in self.files if f.name != file.name)
        self.set_files((*others, file))

    def _chip(self, file: Attachment) -> QtWidgets.QPushButton:
        size = text.size(len(file.text.encode()))
        said = f"{text.plain(file.name, 32)} · {size}"
        made = button(said.replace("&", "&&"), "close", kind="chip")
        made.setAccessibleName(self.tr("Take {name} away").format(name=text.plain(file.name, 60)))
        made.setToolTip(self.tr("Take this file away again"))
        made.clicked.connect(lambda: self.set_files(tuple(f for f in self.files if f is not file)))
        return made


def is_for_chat(path: Path) -> bool:
    """Whether a dropped file is one to be read by the model, rather than imported."""
    return path.suffix.lower() in _TEXTS and path.name not in _CONFIGS
