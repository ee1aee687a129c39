"""The metadata of a GGUF file: keys and values, checked one by one.

Order: key (its bytes, then that it is new), type tag, that a known key has its exact type, and
only then the value, whose size is compared with what remains of the file before it is read.
"""

import math
import struct
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veneer.errors import FormatError
from veneer.formats.gguf_types import SCALARS, Value, ValueType, expected_kinds
from veneer.formats.gguf_window import Window

_KEY_MAX = 1_024
_STRING_MAX = 1 << 20
_TEMPLATE_MAX = 256 << 10
_ELEMENT_MAX = 65_535
_STRINGS_MAX = 1 << 22
_TOO_SHORT = "the file is not that long. Perhaps it was not copied or downloaded completely."
_MIN_PAIR = 8 + 1 + 4 + 1
_PAIRS_MAX = 65_536


def read_metadata(window: Window, count: int) -> Mapping[str, Value]:
    """Read `count` key-value pairs. Raises `FormatError` COUNT, KEY, STRING, ARRAY, VALUE."""
    if count > min(_PAIRS_MAX, window.remaining // _MIN_PAIR):
        raise FormatError("COUNT", f"The file claims {count} metadata entries.")
    metadata: dict[str, Value] = {}
    for _ in range(count):
        key = _key(window)
        if key in metadata:
            raise FormatError("KEY", f"The metadata key {key!r} appears twice.")
        metadata[key] = _value(window, key)
    return metadata


def _key(window: Window) -> str:
    length = window.u64()
    if not 1 <= length <= _KEY_MAX:
        raise FormatError("KEY", f"A metadata key is {length} bytes long.")
    text = _decode(window.take(length), "KEY", "A metadata key")
    if not text.isprintable():
        raise FormatError("KEY", f"The metadata key {text!r} has control characters.")
    return text


def _value(window: Window, key: str) -> Value:
    tag = window.u32()
    if tag != ValueType.ARRAY:
        _check_kind(key, _kind(key, tag))
        return _string(window, key) if tag == ValueType.STRING else _scalar(window, key, tag)
    element, count = window.u32(), window.u64()
    if element == ValueType.ARRAY:
        raise FormatError("ARRAY", f"{key} is an array of arrays.")
    _check_kind(key, f"[{_kind(key, element)}]")
    if element == ValueType.STRING:
        return _string_array(window, key, count)
    return _number_array(window, key, element, count)


def _kind(key: str, tag: int) -> str:
    try:
        return ValueType(tag).name
    except ValueError:
        raise FormatError("KEY", f"{key} has the unknown type {tag}.") from None


def _check_kind(key: str, kind: str) -> None:
    wanted = expected_kinds(key)
    if wanted is not None and kind not in wanted:
        raise FormatError("KEY", f"{key} is of type {kind}; it must be {' or '.join(wanted)}.")


def _scalar(window: Window, key: str, tag: int) -> Value:
    value = window.scalar(SCALARS[tag][0])
    if tag == ValueType.BOOL:
        if value > 1:
            raise FormatError("VALUE", f"{key} is neither true nor false.")
        return bool(value)
    if expected_kinds(key) is not None and not math.isfinite(value):
        raise FormatError("VALUE", f"{key} is not a finite number.")
    return value


def _string(window: Window, key: str) -> str:
    length = window.u64()
    cap = _TEMPLATE_MAX if key.startswith("tokenizer.chat_template") else _STRING_MAX
    if length > cap:
        raise FormatError("STRING", f"{key} is {length} bytes long; {cap} are allowed.")
    return _decode(window.take(length), "STRING", key)


def _decode(raw: bytes, rule: Literal["KEY", "STRING"], what: str) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FormatError(rule, f"{what} is not valid text (UTF-8 without NUL).")
    return text


def _string_array(window: Window, key: str, count: int) -> tuple[bytes, ...]:
    """The hot loop: a vocabulary has up to 300,000 entries, so it reads the window directly."""
    if count > _STRINGS_MAX:
        raise FormatError("ARRAY", f"{key} claims {count} strings.")
    if count > window.remaining // 8:
        raise FormatError("ARRAY", f"{key} claims {count} strings; {_TOO_SHORT}")
    unpack, data, pos = struct.Struct("<Q").unpack_from, window.data, window.pos
    strings: list[bytes] = []
    for _ in range(count):
        start = pos + 8
        if start > len(data):
            data = window.reach(start)
        (length,) = unpack(data, pos)
        if length > _ELEMENT_MAX:
            raise FormatError("STRING", f"{key} has a string of {length} bytes.")
        pos = start + length
        if pos > len(data):
            data = window.reach(pos)
        strings.append(data[start:pos])
    window.pos = pos
    return tuple(strings)


def _number_array(window: Window, key: str, element: int, count: int) -> NDArray[np.generic]:
    dtype = np.dtype(SCALARS[element][1])
    if count > window.remaining // dtype.itemsize:
        raise FormatError("ARRAY", f"{key} claims {count} numbers; {_TOO_SHORT}")
    # The bytes are a copy of a part of the window, so the array does not keep the window alive.
    array: NDArray[np.generic] = np.frombuffer(window.take(count * dtype.itemsize), dtype)
    if element == ValueType.BOOL:
        if array.size and int(array.astype(np.uint8).max()) > 1:
            raise FormatError("VALUE", f"{key} has an entry that is neither true nor false.")
        array = array.astype(np.bool_)
        array.setflags(write=False)
    return array
