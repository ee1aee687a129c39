"""GGUF's vocabulary: value types, tensor types, and the exact type of every key we rely on.

Tables only. llama.cpp aborts the process when some keys have another type than it expects, and
divides by a block size of zero for retired tensor types; what is not in these tables never
reaches it.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = bool | int | float | str | tuple[bytes, ...] | NDArray[np.generic]
"""A metadata value. Arrays of strings are tuples of raw bytes (tokens need not be UTF-8); arrays
of numbers are read-only numpy vectors of the file's own element type."""


class ValueType(IntEnum):
    """The type tag before each metadata value."""

    U8 = 0
    I8 = 1
    U16 = 2
    I16 = 3
    U32 = 4
    I32 = 5
    F32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    U64 = 10
    I64 = 11
    F64 = 12


SCALARS: Final[Mapping[int, tuple[str, str]]] = {
    ValueType.U8: ("<B", "<u1"),
    ValueType.I8: ("<b", "<i1"),
    ValueType.U16: ("<H", "<u2"),
    ValueType.I16: ("<h", "<i2"),
    ValueType.U32: ("<I", "<u4"),
    ValueType.I32: ("<i", "<i4"),
    ValueType.F32: ("<f", "<f4"),
    ValueType.BOOL: ("<B", "|u1"),
    ValueType.U64: ("<Q", "<u8"),
    ValueType.I64: ("<q", "<i8"),
    ValueType.F64: ("<d", "<f8"),
}
"""Value type -> (struct format, numpy dtype)."""


class GgmlType(NamedTuple):
    """A tensor type: `block` elements are stored in `size` bytes."""

    name: str
    block: int
    size: int


GGML_TYPES: Final[Mapping[int, GgmlType]] = {
    0: GgmlType("F32", 1, 4),
    1: GgmlType("F16", 1, 2),
    2: GgmlType("Q4_0", 32, 18),
    3: GgmlType("Q4_1", 32, 20),
    6: GgmlType("Q5_0", 32, 22),
    7: GgmlType("Q5_1", 32, 24),
    8: GgmlType("Q8_0", 32, 34),
    10: GgmlType("Q2_K", 256, 84),
    11: GgmlType("Q3_K", 256, 110),
    12: GgmlType("Q4_K", 256, 144),
    13: GgmlType("Q5_K", 256, 176),
    14: GgmlType("Q6_K", 256, 210),
    16: GgmlType("IQ2_XXS", 256, 66),
    17: GgmlType("IQ2_XS", 256, 74),
    18: GgmlType("IQ3_XXS", 256, 98),
    19: GgmlType("IQ1_S", 256, 50),
    20: GgmlType("IQ4_NL", 32, 18),
    21: GgmlType("IQ3_S", 256, 110),
    22: GgmlType("IQ2_S", 256, 82),
    23: GgmlType("IQ4_XS", 256, 136),
    24: GgmlType("I8", 1, 1),
    25: GgmlType("I16", 1, 2),
    26: GgmlType("I32", 1, 4),
    27: GgmlType("I64", 1, 8),
    28: GgmlType("F64", 1, 8),
    29: GgmlType("IQ1_M", 256, 56),
    30: GgmlType("BF16", 1, 2),
    34: GgmlType("TQ1_0", 256, 54),
    35: GgmlType("TQ2_0", 256, 66),
    39: GgmlType("MXFP4", 32, 17),
}
"""Type id -> type. Retired ids and the types of intermediate results are left out on purpose."""

_LAYER_COUNTS = ("U32", "[U32]", "[I32]")

_EXACT: Final[Mapping[str, tuple[str, ...]]] = {
    "general.architecture": ("STRING",),
    "general.type": ("STRING",),
    "general.name": ("STRING",),
    "general.basename": ("STRING",),
    "general.size_label": ("STRING",),
    "general.finetune": ("STRING",),
    "general.license": ("STRING",),
    "general.alignment": ("U32",),
    "general.file_type": ("U32",),
    "general.quantization_version": ("U32",),
    "adapter.type": ("STRING",),
    "adapter.lora.alpha": ("F32",),
    "adapter.lora.task_name": ("STRING",),
    "adapter.lora.prompt_prefix": ("STRING",),
    "adapter.alora.invocation_tokens": ("[U32]",),
    "tokenizer.ggml.model": ("STRING",),
    "tokenizer.ggml.pre": ("STRING",),
    "tokenizer.ggml.tokens": ("[STRING]",),
    "tokenizer.ggml.merges": ("[STRING]",),
    "tokenizer.ggml.scores": ("[F32]",),
    "tokenizer.ggml.token_type": ("[I32]",),
    "tokenizer.ggml.add_bos_token": ("BOOL",),
    "tokenizer.ggml.add_eos_token": ("BOOL",),
    "tokenizer.ggml.add_space_prefix": ("BOOL",),
    "tokenizer.chat_template": ("STRING",),
    "split.no": ("U16",),
    "split.count": ("U16",),
    "split.tensors.count": ("I32",),
}

_BY_SUFFIX: Final[Mapping[str, tuple[str, ...]]] = {
    ".block_count": ("U32",),
    ".context_length": ("U32",),
    ".embedding_length": ("U32",),
    ".vocab_size": ("U32",),
    ".expert_count": ("U32",),
    ".expert_used_count": ("U32",),
    ".feed_forward_length": _LAYER_COUNTS,
    ".attention.head_count": _LAYER_COUNTS,
    ".attention.head_count_kv": _LAYER_COUNTS,
    ".attention.key_length": ("U32",),
    ".attention.value_length": ("U32",),
    ".attention.layer_norm_rms_epsilon": ("F32",),
    ".rope.dimension_count": ("U32",),
    ".attention.layer_norm_epsilon": ("F32",),
    ".rope.freq_base": ("F32",),
    ".rope.scaling.type": ("STRING",),
    "_token_id": ("U32",),
}


def expected_kinds(key: str) -> tuple[str, ...] | None:
    """The kinds a known key may have ("U32", or "[U32]" for an array), or None for other keys."""
    if key in _EXACT:
        return _EXACT[key]
    return next((kinds for end, kinds in _BY_SUFFIX.items() if key.endswith(end)), None)
