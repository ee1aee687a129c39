"""What a place shows while there is nothing in it: what it is for and what to do first."""

from veneer_app.parts.controls import column, label, row
from veneer_app.qt import Qt, QtWidgets
from veneer_app.theme import icons
from veneer_app.theme.tokens import current


class Empty(QtWidgets.QWidget):
    """A picture, a title, a sentence, and buttons that begin."""

    def __init__(self, icon: str, title: str, sentence: str) -> None:
        super().__init__()
        self._icon = icon
        self._picture = label()
        self.title = label(title, "title")
        self.sentence = label(sentence, "muted", wrap=True)
        self._buttons = row(None, None)
        for part in (self._picture, self.title, self.sentence):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setMaximumWidth(440)
        centred = row(None, self.sentence, None)
        centred.setStretch(1, 4)
        self.setLayout(
            column(None, self._picture, self.title, centred, 8, self._buttons, None, spacing=8)
        )

    def add(self, made: QtWidgets.QWidget) -> None:
        """Put a button or a field below the sentence."""
        self._buttons.insertWidget(self._buttons.count() - 1, made)

    def say(self, title: str, sentence: str) -> None:
        """Change the words."""
        self.title.setText(title)
        self.sentence.setText(sentence)

    def paintEvent(self, event: object) -> None:  # noqa: N802
        """Draw the picture in the theme's tone, which may have changed."""
        shown = icons.pixmap(self._icon, current().border_strong, 48, self.devicePixelRatioF())
        if self._picture.pixmap().cacheKey() != shown.cacheKey():
            self._picture.setPixmap(shown)
