"""The Settings, and the windows that open over any place."""

from veneer.errors import ConfirmBase, OverBudget, RuntimeCrashed
from veneer_app import bugs
from veneer_app.qt import QtWidgets
from veneer_app.settings.about import show_about
from veneer_app.shots import values
from veneer_app.switch import Unsure
from veneer_app.window import MainWindow


def full(window: MainWindow) -> None:
    """Folders whose names have no end are watched, and a change was refused."""
    place = window.settings
    place.watched.show_folders(("/home/somebody/models", f"/home/{values.ENDLESS.strip()}"))
    said = "A context of 131072 tokens needs 17.2 GB of memory, but only 8.0 GB may be used."
    window.notices.show_error(OverBudget(said))
    for area in place.findChildren(QtWidgets.QScrollArea):
        area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())


def crash(window: MainWindow) -> None:
    """The worker is gone."""
    said = "The runtime ended unexpectedly while answering with “pirate” (signal 6)."
    window.notices.show_error(RuntimeCrashed(said))


def about(window: MainWindow) -> QtWidgets.QWidget:
    """What this is."""
    return show_about(window.operations, window)


def bug(window: MainWindow) -> QtWidgets.QWidget:
    """An exception that nobody expected."""
    try:
        raise ZeroDivisionError("division by zero")
    except ZeroDivisionError as error:
        made = bugs.BugDialog(bugs.report_of(error), window)
    made.open()
    return made


def unsure(window: MainWindow) -> QtWidgets.QWidget:
    """A question that must be answered first."""
    doubts = (f"{values.UNSURE.name}: It does not say which model it was made for.",)
    window.services.switch.unsure.emit(Unsure(ConfirmBase(doubts[0], doubts), lambda: None))
    return window.findChildren(QtWidgets.QMessageBox)[-1]


def leave(window: MainWindow) -> None:
    """Show what is there again."""
    window.notices.hide()
    for area in window.settings.findChildren(QtWidgets.QScrollArea):
        area.verticalScrollBar().setValue(0)
    window.settings.refresh()
