"""Text from files is one bounded, visible line."""

import pytest

from veneer.formats.foreign import one_line


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\u202eb\x00c", "abc"),
        ("red \x1b[31m", "red [31m"),
        ("two\nlines\tand  more", "two lines and more"),
        ("x" * 20, "x" * 9 + "…"),
        ("\u2066", ""),
    ],
)
def test_one_line(given, shown):
    assert one_line(given, 10 if len(given) == 20 else 80) == shown
