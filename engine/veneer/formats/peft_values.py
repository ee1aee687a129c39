"""The values in PEFT's `adapter_config.json`, each of the type that PEFT itself writes."""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard, cast

from veneer.errors import FormatError

FILE: Final = "adapter_config.json"
RANK_MAX: Final = 65_536
ALPHA_MAX: Final = 1e6
"""The largest |alpha| that is believed; trained ones stay below 10,000."""
TOKENS_MAX: Final = 65_536


def rank(value: Any, field: str) -> int:
    """A rank from 1 to 65,536. Raises `FormatError` CONFIG, as all of these."""
    if type(value) is not int or not 1 <= value <= RANK_MAX:
        raise FormatError("CONFIG", f"{FILE}: the rank {field[:80]!r} is {value!r:.80}.")
    return value


def alpha(value: Any, field: str) -> float:
    """A finite, believable strength."""
    if type(value) not in (int, float) or not abs(value) <= ALPHA_MAX:
        raise FormatError("CONFIG", f"{FILE}: the alpha {field[:80]!r} is {value!r:.80}.")
    return float(value)


def flag(table: Mapping[str, Any], field: str) -> bool:
    """A switch, off where it is missing."""
    value = table.get(field) or False
    if not isinstance(value, bool):
        raise FormatError("CONFIG", f"{FILE}: {field} is {value!r:.80}.")
    return value


def table(table: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """A table, empty where it is missing."""
    value: Any = table.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FormatError("CONFIG", f"{FILE}: {field} is not a table.")
    return cast("dict[str, Any]", value)


def ranks(fields: Mapping[str, Any], field: str) -> Mapping[str, int]:
    """Ranks by pattern."""
    return {key: rank(value, key) for key, value in table(fields, field).items()}


def alphas(fields: Mapping[str, Any], field: str) -> Mapping[str, float]:
    """Strengths by pattern."""
    return {key: alpha(value, key) for key, value in table(fields, field).items()}


def text(table: Mapping[str, Any], field: str) -> str | None:
    """A text, or None where it is missing or empty."""
    value = table.get(field)
    if value is None or isinstance(value, str):
        return value or None
    raise FormatError("CONFIG", f"{FILE}: {field} is not text.")


def names(value: Any, field: str) -> tuple[str, ...] | None:
    """A list of names; None for a regular expression, and where it is missing."""
    if value is None or isinstance(value, str):
        return None
    if _is_name_list(value):
        return tuple(value)
    raise FormatError("CONFIG", f"{FILE}: {field} is not a list of names.")


def _is_name_list(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )


def numbers(value: Any, field: str) -> tuple[int, ...]:
    """A list of different token ids, ascending or not; empty where it is missing."""
    if value is None:
        return ()
    if not _is_token_list(value):
        raise FormatError("CONFIG", f"{FILE}: {field} is not a list of token ids.")
    return tuple(value)


def _is_token_list(value: Any) -> TypeGuard[list[int]]:
    if not isinstance(value, list) or len(cast("list[Any]", value)) > TOKENS_MAX:
        return False
    return all(map(_is_token, cast("list[Any]", value)))


def _is_token(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 31
