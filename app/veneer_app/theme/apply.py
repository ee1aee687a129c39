"""Hands a theme to the application: colour scheme, palette, style sheet, icons.

The palette matters too: it is what Qt paints where the style sheet says nothing, and what
placeholder texts and links take their colour from.
"""

from typing import Literal

from veneer_app.qt import Qt, QtCore, QtGui, QtWidgets
from veneer_app.theme import icons, tokens
from veneer_app.theme.sheet import sheet

Mode = Literal["system", "light", "dark"]
_MINIMUM_POINTS = 10.0


class Theme(QtCore.QObject):
    """Keeps the application in the chosen theme, or in the system's."""

    def __init__(self, application: QtWidgets.QApplication) -> None:
        super().__init__(application)
        self._application = application
        self._mode: Mode = "system"
        self._applied: tokens.Tokens | None = None
        application.setStyle("Fusion")
        application.setFont(_readable(application.font()))
        application.styleHints().colorSchemeChanged.connect(self._system_changed)
        # It may have more pixels to a point.
        application.screenAdded.connect(icons.refresh)

    def choose(self, mode: Mode) -> None:
        """Have what is drawn from now on be in the tones of a mode.

        Widgets are made twice as fast before `use` puts the style sheet on all of them.
        """
        self._mode = mode
        dark = mode == "dark" or (mode == "system" and self._system_is_dark())
        chosen = tokens.DARK if dark else tokens.LIGHT
        if chosen != tokens.current():
            tokens.use(chosen)
            icons.refresh()

    def use(self, mode: Mode) -> None:
        """Change to a mode, at once."""
        self.choose(mode)
        # Every widget there is would be measured again, which takes much longer than a frame.
        if tokens.current() != self._applied:
            self._applied = tokens.current()
            self._apply(self._applied)

    def _system_is_dark(self) -> bool:
        return self._application.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _system_changed(self) -> None:
        if self._mode == "system":
            self.use("system")

    def _apply(self, chosen: tokens.Tokens) -> None:
        self._application.setPalette(_palette(chosen))
        self._application.setStyleSheet(sheet(chosen, str(icons.folder())))


def _readable(font: QtGui.QFont) -> QtGui.QFont:
    """The system's font, not smaller than what can be read comfortably."""
    chosen = QtGui.QFont(font)
    chosen.setPointSizeF(max(font.pointSizeF(), _MINIMUM_POINTS))
    return chosen


def _palette(chosen: tokens.Tokens) -> QtGui.QPalette:
    role = QtGui.QPalette.ColorRole
    colours = {
        role.Window: chosen.window,
        role.WindowText: chosen.text,
        role.Base: chosen.surface,
        role.AlternateBase: chosen.raised,
        role.Text: chosen.text,
        role.PlaceholderText: chosen.muted,
        role.Button: chosen.surface,
        role.ButtonText: chosen.text,
        role.ToolTipBase: chosen.raised,
        role.ToolTipText: chosen.text,
        role.Highlight: chosen.accent,
        role.HighlightedText: chosen.on_accent,
        role.Link: chosen.accent,
        role.Accent: chosen.accent,
    }
    palette = QtGui.QPalette()
    for name, colour in colours.items():
        palette.setColor(name, QtGui.QColor(colour))
    for name in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(
            QtGui.QPalette.ColorGroup.Disabled, name, QtGui.QColor(chosen.border_strong)
        )
    return palette
