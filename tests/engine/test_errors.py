import pytest

from veneer import errors
from veneer.errors import FormatError, VeneerError


def every(kind: type[VeneerError]) -> list[type[VeneerError]]:
    return [kind, *(k for child in kind.__subclasses__() for k in every(child))]


def test_codes_are_unique_and_stable_in_form():
    codes = [kind.code for kind in every(VeneerError)]
    assert len(codes) == len(set(codes))
    assert all(code == code.upper() and code.replace("_", "").isalpha() for code in codes)


def test_an_error_is_its_sentence():
    assert str(errors.NotFound("There is no cat.")) == "There is no cat."


def test_a_format_error_carries_its_rule_in_the_code():
    assert FormatError("TRUNCATED", "short").full_code == "FORMAT_TRUNCATED"


@pytest.mark.parametrize("kind", [k for k in every(VeneerError) if k is not FormatError])
def test_an_error_survives_the_journey_between_processes(kind: type[VeneerError]):
    back = errors.from_code(kind.code, "why")
    assert type(back) is kind
    assert back.message == "why"


def test_an_unknown_code_is_still_an_error_with_its_sentence():
    assert errors.from_code("NEVER_HEARD", "why").message == "why"
