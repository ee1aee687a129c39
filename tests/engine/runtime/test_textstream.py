import pytest

from veneer.runtime.textstream import TextStream


def heard(pieces: list[bytes], *stops: str) -> tuple[list[str], bool]:
    stream = TextStream(stops)
    shown = [stream.feed(piece) for piece in pieces]
    return [*shown, stream.finish()], stream.stopped


def test_a_character_is_shown_when_it_is_whole():
    data = "é🦜".encode()
    shown, _ = heard([data[:1], data[1:3], data[3:]])
    assert shown == ["", "é", "🦜", ""]


def test_half_a_character_at_the_end_is_marked():
    assert heard([b"a\xf0\x9f"])[0] == ["a", "\ufffd"]


@pytest.mark.parametrize(
    ("pieces", "text", "stopped"),
    [
        ([b"one STOP two"], "one ", True),
        ([b"one S", b"TO", b"P two"], "one ", True),
        ([b"one S", b"TO", b"NE"], "one STONE", False),
        ([b"one STO"], "one STO", False),
    ],
)
def test_a_stop_string_is_never_shown(pieces: list[bytes], text: str, stopped: bool):
    shown, was_stopped = heard(pieces, "STOP")
    assert "".join(shown) == text
    assert was_stopped == stopped


def test_the_earliest_of_several_stops_wins():
    assert "".join(heard([b"a B c D"], "D", "B")[0]) == "a "
