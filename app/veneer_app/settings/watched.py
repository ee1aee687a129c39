"""The list of watched folders in the Settings."""

from collections.abc import Callable
from pathlib import Path

from veneer_app import text
from veneer_app.parts.controls import Elided, button, clear, column, icon_button, label, row
from veneer_app.qt import QtWidgets


class Watched(QtWidgets.QWidget):
    """Shows the folders; `keep` is asked with `watched` when one is added or taken off."""

    def __init__(self, keep: Callable[..., None]) -> None:
        super().__init__()
        self._keep = keep
        self._folders: tuple[str, ...] = ()
        self._list = column(spacing=4)
        self.none = label(self.tr("No folder is watched."), "muted")
        self.add = button(self.tr("Add a folder…"), "plus", on_click=self._ask)
        self.setLayout(column(self.none, self._list, row(self.add, None)))

    def show_folders(self, folders: tuple[str, ...]) -> None:
        """Show these."""
        self._folders = folders
        clear(self._list)
        self.none.setVisible(not folders)
        for folder in folders:
            self._list.addWidget(self._line(folder))

    def add_folder(self, folder: Path) -> None:
        """Watch one more."""
        if str(folder) not in self._folders:
            self._keep(watched=(*self._folders, str(folder)))

    def _line(self, folder: str) -> QtWidgets.QWidget:
        shown = text.plain(folder, 300)
        away = icon_button(
            "close",
            self.tr("Stop watching {folder}").format(folder=shown),
            lambda: self._keep(watched=tuple(f for f in self._folders if f != folder)),
        )
        made = QtWidgets.QWidget()
        layout = row(Elided(shown), away)
        layout.setStretch(0, 1)
        made.setLayout(layout)
        return made

    def _ask(self) -> None:
        dialog = QtWidgets.QFileDialog(self, self.tr("Watch a folder"))
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda folder: self.add_folder(Path(folder)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
