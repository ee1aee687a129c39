"""The main window: rail, top bar, messages, the five places, and the imports at its foot.

The whole of it takes dropped files.
"""

from pathlib import Path

from veneer.compose.export import Exported
from veneer.errors import RuntimeCrashed, RuntimeTimeout
from veneer.identity import Digest
from veneer.store.settings import Settings
from veneer.workspace import Workspace
from veneer_app import bugs, text
from veneer_app.chat.attachments import is_for_chat
from veneer_app.chat.place import ChatPlace
from veneer_app.frame.drop import DropOverlay, paths_of, repository
from veneer_app.frame.pins import PinKeys
from veneer_app.frame.rail import Rail
from veneer_app.frame.topbar import TopBar
from veneer_app.history.place import HistoryPlace
from veneer_app.imports.folders import Folders
from veneer_app.imports.queue import ImportQueue
from veneer_app.imports.tray import ImportTray
from veneer_app.library.place import LibraryPlace
from veneer_app.operations import Operations
from veneer_app.parts.ask import confirm
from veneer_app.parts.controls import column, row
from veneer_app.parts.keys import key
from veneer_app.parts.notices import NoticeBar
from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.services import Services
from veneer_app.settings.about import show_about
from veneer_app.settings.log import show_log
from veneer_app.settings.place import SettingsPlace
from veneer_app.stacks.place import StacksPlace
from veneer_app.switch import Switch, SwitchState, Unsure
from veneer_app.theme.apply import Theme
from veneer_app.verdicts import Verdicts

PLACES = ("chat", "library", "stacks", "history", "settings")


class MainWindow(QtWidgets.QMainWindow):
    """One workspace in one window. Closing it ends what is under way."""

    def __init__(self, workspace: Workspace, theme: Theme) -> None:
        super().__init__()
        self.setWindowTitle("Veneer")
        self.setAcceptDrops(True)
        self.resize(1200, 800)
        self.setMinimumSize(880, 560)
        self._theme = theme
        self.operations = Operations(workspace, self)
        switch = Switch(self.operations)
        queue = ImportQueue(self.operations)
        self.services = Services(self.operations, switch, queue, Verdicts(self.operations))
        self.folders = Folders(workspace, self.operations, queue)
        self._make_places()
        self._arrange()
        self._connect()
        self.go(0)
        self.chat.composer.setFocus()
        self.operations.read(lambda ws: ws.settings, self._apply)
        self._tell_recovery(workspace)
        # After what is waiting already, the first painting among it.
        QtCore.QTimer.singleShot(0, self.operations, self.operations.begin)

    def go(self, number: int) -> None:
        """Show a place."""
        self.rail.show_place(number)
        self.places.setCurrentIndex(number)

    def import_paths(self, paths: tuple[Path, ...]) -> None:
        """Bring files in."""
        self.services.imports.add(paths)

    def come_to_front(self, paths: tuple[Path, ...]) -> None:
        """Show the window above others, and bring these files in. From any thread."""
        self.operations.hand(lambda: self._come_to_front(paths))

    def _come_to_front(self, paths: tuple[Path, ...]) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        self.import_paths(paths)

    def _make_places(self) -> None:
        self.chat = ChatPlace(self.services)
        self.library = LibraryPlace(self.services)
        self.stacks = StacksPlace(self.services)
        self.history = HistoryPlace(self.services)
        self.settings = SettingsPlace(self.services)
        self.places = QtWidgets.QStackedWidget()
        for place in (self.chat, self.library, self.stacks, self.history, self.settings):
            self.places.addWidget(place)

    def _arrange(self) -> None:
        names = (
            self.tr("Chat"),
            self.tr("Library"),
            self.tr("Stacks"),
            self.tr("History"),
            self.tr("Settings"),
        )
        self.rail = Rail(tuple(zip(PLACES, names, strict=True)))
        self.topbar = TopBar(self.services)
        self.notices = NoticeBar()
        self.tray = ImportTray(self.services.imports)
        main = column(self.topbar, self.notices, self.places, self.tray, spacing=0)
        main.setStretch(2, 1)
        centre = QtWidgets.QWidget()
        centre.setLayout(row(self.rail, main, spacing=0))
        self.setCentralWidget(centre)
        self.overlay = DropOverlay(self)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.go)
        self.rail.dropped.connect(self._add_to_stack)
        for part in (self.topbar, self.chat, self.library, self.stacks):
            part.import_wanted.connect(self._ask_for_files)
        self.topbar.hub_wanted.connect(self._ask_for_repository)
        self.operations.refused.connect(self.notices.show_error)
        self.notices.retry_wanted.connect(self.services.switch.retry)
        self.notices.details_wanted.connect(lambda: show_log(self.operations, self))
        self.chat.session.ended.connect(self._tell_lost)
        self.operations.went_wrong.connect(bugs.show)
        self.operations.settings_changed.connect(self._apply)
        self.services.switch.stated.connect(self._stated)
        self.services.switch.unsure.connect(self._ask_to_confirm)
        self.chat.session.answered.connect(self.topbar.show_stamp)
        self.library.details.acts.said.connect(self.notices.show_info)
        self.library.details.acts.stack_wanted.connect(self._add_to_stack)
        self.stacks.shelf.exported.connect(self._tell_exported)
        key(self, "Ctrl+O", self._ask_for_files)
        key(self, "Ctrl+Shift+O", self._ask_for_repository)
        key(self, "Ctrl+Shift+R", self.topbar.roll_back)
        key(self, "F1", lambda: show_about(self.operations, self))
        self.pins = PinKeys(self, self.services)
        self.pins.nothing.connect(self._tell_unpinned)

    def _apply(self, settings: Settings) -> None:
        self._theme.use(settings.theme)
        self.folders.follow(settings)

    def _stated(self, state: SwitchState) -> None:
        # The editor of stacks says it itself, beside the button that was pressed.
        elsewhere = self.places.currentWidget() is not self.stacks
        if state.status == "failed" and state.error is not None and elsewhere:
            self.notices.show_error(state.error)

    def _tell_lost(self, error: BaseException | None) -> None:
        # The conversation says it too, but only here it can be tried again.
        if isinstance(error, RuntimeCrashed | RuntimeTimeout):
            self.notices.show_error(error)

    def _ask_to_confirm(self, unsure: Unsure) -> None:
        confirm(
            self,
            self.tr("Does it belong on this base?"),
            "\n\n".join(
                (
                    *(text.plain(doubt, 600) for doubt in unsure.error.doubts),
                    self.tr("If you know that it does, activate it; this is kept in the history."),
                )
            ),
            self.tr("Activate"),
            unsure.again,
        )

    def _add_to_stack(self, adapter: str) -> None:
        self.go(PLACES.index("stacks"))
        self.stacks.add(Digest(adapter))

    def _tell_exported(self, done: Exported) -> None:
        said = self.tr("The stack “{name}” is in {path} ({size}).")
        size = text.size(done.size)
        self.notices.show_info(said.format(name=done.name, path=done.path, size=size))

    def _tell_unpinned(self, number: int) -> None:
        said = self.tr("No stack is pinned to key {key}. A stack's menu in Stacks does that.")
        self.notices.show_info(said.format(key=number))

    def _tell_recovery(self, workspace: Workspace) -> None:
        replaced = workspace.recovery.replaced
        if replaced is not None:
            said = self.tr("Generation {n} could not be used and was replaced: {why}")
            self.notices.show_info(said.format(n=replaced.old, why=replaced.reason))

    def _ask_for_files(self) -> None:
        dialog = QtWidgets.QFileDialog(self, self.tr("Import models, adapters and stacks"))
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.ExistingFiles)
        patterns = "*.gguf *.safetensors adapter_config.json *.slm *.zip *.tar *.tar.gz *.tgz"
        known = self.tr("Models, adapters and stacks ({patterns})").format(patterns=patterns)
        dialog.setNameFilters([known, self.tr("All files (*)")])
        dialog.filesSelected.connect(lambda files: self.import_paths(tuple(map(Path, files))))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_for_repository(self) -> None:
        dialog = QtWidgets.QInputDialog(self)
        dialog.setWindowTitle(self.tr("Import from a hub"))
        dialog.setLabelText(self.tr("OWNER/NAME, or the address of the adapter's page:"))
        dialog.textValueSelected.connect(lambda said: self.import_paths((repository(said),)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take(self, paths: tuple[Path, ...]) -> None:
        """Text goes along with the next question while the chat is shown; all else is imported."""
        chatting = self.places.currentWidget() is self.chat
        texts = tuple(path for path in paths if chatting and is_for_chat(path))
        if texts:
            self.chat.take(texts)
        self.import_paths(tuple(path for path in paths if path not in texts))

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:  # noqa: N802
        """Files are held over the window."""
        if paths_of(event.mimeData()):
            event.acceptProposedAction()
            self.overlay.cover()

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:  # noqa: N802
        """They are gone again."""
        self.overlay.hide()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:  # noqa: N802
        """They were let go."""
        self.overlay.hide()
        event.acceptProposedAction()
        self._take(paths_of(event.mimeData()))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:  # noqa: N802
        """The overlay covers the window at any size."""
        super().resizeEvent(event)
        self.overlay.setGeometry(self.rect())

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:  # noqa: N802
        """Stop what is under way; what is active stays active for the next time."""
        self.folders.close()
        self.operations.close()
        super().closeEvent(event)
