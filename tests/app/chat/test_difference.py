"""What is marked as different, word by word."""

from veneer_app.chat.difference import Part, differences


def marked(texts: list[str]) -> list[list[str]]:
    return [[p.text for p in parts if not p.same] for parts in differences(texts)]


def test_only_the_words_that_differ_are_marked() -> None:
    texts = ["The sun is hot.", "The moon is hot.", "The sun is very hot."]
    assert marked(texts) == [["sun"], ["moon"], ["very "]]


def test_nothing_of_a_text_is_lost() -> None:
    texts = ["a b\n\nc", "", "ä b"]
    assert ["".join(p.text for p in parts) for parts in differences(texts)] == texts


def test_one_that_has_no_other_is_the_same_as_itself() -> None:
    assert differences(["a b"]) == ((Part("a b", True),),)
