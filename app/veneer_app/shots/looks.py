"""How a picture is taken: tones, reading direction, size, and pixels to a point."""

from dataclasses import dataclass

from veneer_app.qt import Qt
from veneer_app.theme.apply import Mode

_USUAL = (1200, 800)
_SMALLEST = (880, 560)


@dataclass(frozen=True)
class Look:
    """`size` is in points; at a `scale` of 2 the picture has twice as many pixels each way."""

    name: str
    mode: Mode = "light"
    right_to_left: bool = False
    size: tuple[int, int] = _USUAL
    scale: int = 1

    @property
    def direction(self) -> Qt.LayoutDirection:
        """Which way is read."""
        directions = Qt.LayoutDirection
        return directions.RightToLeft if self.right_to_left else directions.LeftToRight


LOOKS: tuple[Look, ...] = (
    Look("light"),
    Look("rtl", right_to_left=True),
    Look("small", size=_SMALLEST),
    Look("200", scale=2, size=_SMALLEST),
    Look("dark", "dark"),
)
