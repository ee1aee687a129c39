"""JSON from strangers: bounded, without duplicate keys, and without NaN.

Python keeps the last of two equal keys where other programs keep the first, so a file could say
one thing to us and another to them.
"""

import json
from typing import Any, NoReturn, cast

from veneer.errors import FormatError


def parse_object(raw: bytes, what: str) -> dict[str, Any]:
    """Parse `raw` as one JSON object; `what` names it in the sentence of a `FormatError` JSON."""
    try:
        value: Any = json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise FormatError("JSON", f"{what} is nested too deeply.") from None
    except ValueError as error:
        raise FormatError("JSON", f"{what} is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise FormatError("JSON", f"{what} is not a JSON object.")
    return cast("dict[str, Any]", value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} appears twice")
    return table


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
