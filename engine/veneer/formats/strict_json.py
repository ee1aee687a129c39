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
        text = raw.decode("utf-8")
        value: Any = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if "\\ud" in text.lower():
            # Half a surrogate pair is a string that can never be stored or shown again.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise FormatError("JSON", f"{what} is nested too deeply.") from None
    except ValueError as error:
        raise FormatError("JSON", f"{what} is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise FormatError("JSON", f"{what} is not a JSON object.")
    return cast("dict[str, Any]", value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key[:80]!r} appears twice")
        table[key] = value
    return table


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
