"""The tones of the two themes, by what they are for. Nothing else names a colour."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tokens:
    """One theme. Text on `window`, `surface` and `rail` has a contrast of at least 4.5."""

    dark: bool
    window: str
    surface: str
    raised: str
    rail: str
    border: str
    border_strong: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    accent_soft: str
    on_accent: str
    good: str
    bad: str
    bad_soft: str
    code: str


LIGHT = Tokens(
    dark=False,
    window="#f7f5f2",
    surface="#ffffff",
    raised="#f4f1ec",
    rail="#efebe5",
    border="#e3ddd5",
    border_strong="#c9c0b5",
    text="#221d18",
    muted="#6a6158",
    accent="#a34a17",
    accent_hover="#8a3d11",
    accent_soft="#f8e6da",
    on_accent="#ffffff",
    good="#2e7d4f",
    bad="#b3261e",
    bad_soft="#fbe9e7",
    code="#f1ede7",
)

DARK = Tokens(
    dark=True,
    window="#1b1816",
    surface="#24201d",
    raised="#2d2824",
    rail="#151311",
    border="#3a342f",
    border_strong="#574e46",
    text="#efe9e2",
    muted="#aba196",
    accent="#eb9a5c",
    accent_hover="#f3b17d",
    accent_soft="#43301f",
    on_accent="#1d1206",
    good="#6fc392",
    bad="#f28b82",
    bad_soft="#432422",
    code="#1a1715",
)

_current = LIGHT


def current() -> Tokens:
    """The theme in use, for what paints itself."""
    return _current


def use(tokens: Tokens) -> None:
    """Make `tokens` the theme in use. Only `theme.apply` calls this."""
    global _current
    _current = tokens
