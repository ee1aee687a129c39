"""Opening the window: application and theme -> workspace -> window -> event loop -> close.

If another window has the workspace, that one is brought to the front instead, with the files.
While it is open, the window carries out what the command line asks of its workspace.
"""

import gc
import sys
from pathlib import Path

from veneer.cli.run import serve
from veneer.control.client import raise_window
from veneer.errors import VeneerError, WorkspaceBusy
from veneer.workspace import Workspace
from veneer_app import bugs, languages, text
from veneer_app.qt import Qt, QtWidgets
from veneer_app.theme import icons
from veneer_app.theme.apply import Theme
from veneer_app.window import MainWindow


def open_window(root: Path, files: tuple[Path, ...] = ()) -> int:
    """Open the workspace at `root` in a window, import `files`, and stay until it is closed."""
    application = ensure_application()
    theme = Theme(application)
    bugs.install()
    try:
        workspace = Workspace.open(root, by="window")
    except WorkspaceBusy as busy:
        if raise_window(root.expanduser().absolute(), files):
            return 0
        theme.use("system")
        say_why_not(busy).exec()
        return 1
    except VeneerError as error:
        theme.use("system")
        say_why_not(error).exec()
        return 1
    with workspace:
        settings = workspace.settings
        languages.use(application, settings.language)
        theme.choose(settings.theme)
        window = MainWindow(workspace, theme)
        theme.use(settings.theme)
        with serve(workspace, window.operations.announce, window.come_to_front):
            window.show()
            window.import_paths(files)
            freeze_what_stays()
            return application.exec()


def freeze_what_stays() -> None:
    """Keep the garbage collector from what is there for good.

    Going through all of the window's modules and widgets takes it longer than a frame, and would
    be seen as a stutter in the middle of an answer.
    """
    gc.collect()
    gc.freeze()


def ensure_application() -> QtWidgets.QApplication:
    """The application, made if there is none yet."""
    existing = QtWidgets.QApplication.instance()
    if isinstance(existing, QtWidgets.QApplication):
        return existing
    made = QtWidgets.QApplication(sys.argv[:1])
    made.setApplicationName("Veneer")
    made.setDesktopFileName("veneer")
    made.setWindowIcon(icons.application_icon())
    return made


def say_why_not(error: VeneerError) -> QtWidgets.QMessageBox:
    """The dialog for a workspace that cannot be opened."""
    translate = text.translate
    box = QtWidgets.QMessageBox()
    box.setIcon(QtWidgets.QMessageBox.Icon.Warning)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle("Veneer")
    box.setText(translate("Opening", "The workspace cannot be opened."))
    box.setInformativeText(f"{text.reason(error)} [{text.code(error)}]")
    return box
