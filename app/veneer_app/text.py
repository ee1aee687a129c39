"""Words for numbers, times and names. What came from a file is made harmless here first."""

from datetime import datetime

from veneer.errors import VeneerError
from veneer.formats.foreign import one_line
from veneer_app.qt import QtCore, QtGui

translate = QtCore.QCoreApplication.translate


def plain(text: str | None, limit: int = 160) -> str:
    """Foreign text on one line, without control or direction-changing characters, bounded."""
    return one_line(text or "", limit)


def size(count: int) -> str:
    """Bytes for people."""
    value, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return _isolated(
        f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
    )


def count(number: int) -> str:
    """A large number, short: 134.5 M."""
    for limit, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")):
        if number >= limit:
            return _isolated(f"{number / limit:.1f} {unit}")
    return str(number)


def scale(value: float) -> str:
    """A strength: two digits, without trailing zeros beyond the first."""
    written = f"{value:.2f}".rstrip("0")
    return written + "0" if written.endswith(".") else written


def milliseconds(value: float) -> str:
    """A duration, with the unit that suits it."""
    if value >= 1000:
        return _isolated(f"{value / 1000:.1f} s")
    return _isolated(f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms")


def when(iso: str) -> str:
    """A moment in local time: the clock alone if it was today."""
    try:
        moment = datetime.fromisoformat(iso).astimezone()
    except ValueError:
        return plain(iso, 32)
    today = moment.date() == datetime.now().astimezone().date()
    return _isolated(f"{moment:%H:%M:%S}" if today else f"{moment:%d %b %Y, %H:%M}")


def _isolated(words: str) -> str:
    """A number and its unit, which would change places among words that are read from the right."""
    return f"\u2066{words}\u2069" if QtGui.QGuiApplication.isRightToLeft() else words


def reason(error: BaseException) -> str:
    """The sentence to show for an error."""
    if isinstance(error, VeneerError):
        return plain(error.message, 600)
    return translate("Errors", "Something went wrong inside Veneer. The report says more.")


def code(error: BaseException) -> str:
    """The code of an error, for programs and for asking others."""
    return error.full_code if isinstance(error, VeneerError) else type(error).__name__
