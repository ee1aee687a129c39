"""The languages of the window: English is in the code, the others in resources/translations.

`pyside6-lupdate -no-obsolete -locations none` gathers what there is to translate into the .ts
files, `pyside6-lrelease` makes the .qm files that are loaded, before the first widget is made.
Qt's own dialogs come translated with Qt, where Qt has the language.
"""

from pathlib import Path

import veneer
from veneer_app.qt import QtCore, QtWidgets

_OURS = "veneer_"


def folder() -> Path:
    """Where the translations lie: beside the installed engine, or in a checkout."""
    installed = Path(veneer.__file__).with_name("_resources") / "translations"
    checkout = Path(__file__).parents[2] / "resources" / "translations"
    return installed if installed.is_dir() else checkout


def known() -> list[tuple[str, str]]:
    """Each language by its own name, and its code."""
    codes = ["en", *sorted(path.stem.removeprefix(_OURS) for path in folder().glob("*.qm"))]
    return [(QtCore.QLocale(code).nativeLanguageName().capitalize(), code) for code in codes]


def use(application: QtWidgets.QApplication, language: str) -> str:
    """Speak this language from now on, or the system's; gives the code that is spoken.

    What has been drawn already stays as it is.
    """
    for old in application.findChildren(QtCore.QTranslator):
        application.removeTranslator(old)
        old.deleteLater()
    locale = QtCore.QLocale.system() if language == "system" else QtCore.QLocale(language)
    spoken = "en"
    qts = QtCore.QLibraryInfo.path(QtCore.QLibraryInfo.LibraryPath.TranslationsPath)
    for prefix, place in (("qtbase_", qts), (_OURS, str(folder()))):
        translator = QtCore.QTranslator(application)
        if locale.language() != QtCore.QLocale.Language.English and translator.load(
            locale, prefix, "", place
        ):
            application.installTranslator(translator)
            spoken = locale.name().partition("_")[0] if prefix == _OURS else spoken
    english = QtCore.Qt.LayoutDirection.LeftToRight
    application.setLayoutDirection(english if spoken == "en" else locale.textDirection())
    return spoken
