"""GGUF and safetensors files made byte by byte, so that each part can be made wrong.

Nothing here uses the code under test.
"""

import json
import struct
from collections.abc import Sequence

U8, U16, U32, I32, F32, BOOL, STRING, ARRAY, U64, F64 = 0, 2, 4, 5, 6, 7, 8, 9, 10, 12
TYPE_F32, TYPE_F16, TYPE_Q4_0, TYPE_Q4_2_RETIRED = 0, 1, 2, 4


def text(value):
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key, tag, payload):
    return text(key) + struct.pack("<I", tag) + payload


def u32(key, value):
    return pair(key, U32, struct.pack("<I", value))


def f32(key, value):
    return pair(key, F32, struct.pack("<f", value))


def string(key, value):
    return pair(key, STRING, text(value))


def array(key, element, payloads: Sequence[bytes], count=None):
    head = struct.pack("<IQ", element, len(payloads) if count is None else count)
    return pair(key, ARRAY, head + b"".join(payloads))


def tensor(name, dims, offset=0, type_id=TYPE_F32, n_dims=None):
    count = len(dims) if n_dims is None else n_dims
    head = text(name) + struct.pack("<I", count) + struct.pack(f"<{len(dims)}Q", *dims)
    return head + struct.pack("<IQ", type_id, offset)


def gguf(
    pairs: Sequence[bytes] = (),
    tensors: Sequence[bytes] = (),
    data=b"",
    *,
    magic=b"GGUF",
    version=3,
    n_pairs=None,
    n_tensors=None,
    alignment=32,
):
    n_pairs = len(pairs) if n_pairs is None else n_pairs
    n_tensors = len(tensors) if n_tensors is None else n_tensors
    head = struct.pack("<4sIQQ", magic, version, n_tensors, n_pairs)
    head += b"".join(pairs) + b"".join(tensors)
    return head + bytes(-len(head) % alignment) + data if tensors else head + data


def valid_gguf():
    """Three keys of different kinds and two tensors, the second with padding before it."""
    tokens = [text("a"), text("b"), text("")]
    return gguf(
        [
            string("general.architecture", "llama"),
            array("tokenizer.ggml.tokens", STRING, tokens),
            array("tokenizer.ggml.scores", F32, [struct.pack("<f", x) for x in (0.0, 1.5, -2.0)]),
            f32("llama.rope.freq_base", 10000.0),
        ],
        [tensor("one.weight", (2, 3)), tensor("two.weight", (4,), offset=32, type_id=TYPE_F16)],
        struct.pack("<6f", *range(6)) + bytes(8) + struct.pack("<4e", 1, 2, 3, 4),
    )


def safetensors(table, data=b"", *, length=None):
    """`table` is a dict, or bytes to be used as the header unchanged."""
    raw = table if isinstance(table, bytes) else json.dumps(table).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def entry(start, stop, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


def valid_safetensors():
    return safetensors(
        {
            "__metadata__": {"format": "pt"},
            "a": entry(0, 24, [2, 3]),
            "b": entry(24, 32, [4], "F16"),
        },
        struct.pack("<6f", *range(6)) + struct.pack("<4e", 1, 2, 3, 4),
    )
