"""A GGUF file as names, types and values, and its bytes. Shapes are in ggml's order."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from veneer.formats.gguf_types import GGML_TYPES
from veneer.formats.gguf_writer import ALIGNMENT, _text, _value

TYPE_IDS = {known.name: number for number, known in GGML_TYPES.items()}
BLOCKS = {known.name: known for known in GGML_TYPES.values()}
_DESCRIBED = json.loads(Path(__file__).with_name("models.json").read_text())
NAMES = tuple(_DESCRIBED["models"])


@dataclass(frozen=True)
class Tensor:
    """A tensor without its numbers."""

    shape: tuple[int, ...]
    type: str = "F32"

    @property
    def nbytes(self) -> int:
        """Bytes of the data. A shape that has no whole blocks is rounded up."""
        block = BLOCKS[self.type]
        return -(-prod(self.shape) // block.block) * block.size


@dataclass(frozen=True, repr=False)
class Model:
    """A whole file. Shown as what differs from the model it was made of."""

    name: str
    metadata: dict[str, Any]
    tensors: dict[str, Tensor]

    def __repr__(self) -> str:
        original = model(self.name)
        return f"{self.name} but " + ", ".join(
            (
                *_differences(original.metadata, self.metadata),
                *_differences(original.tensors, self.tensors),
            )
        )

    @property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", ""))

    def with_metadata(self, **changes: Any) -> "Model":
        return replace(self, metadata=self.metadata | changes)

    def with_tensors(self, tensors: dict[str, Tensor]) -> "Model":
        return replace(self, tensors=tensors)


def model(name: str) -> Model:
    """One of `NAMES`, as llama.cpp's converter made it."""
    described = _DESCRIBED["models"][name]
    metadata = {
        k: _value_of(v) for k, v in (described["metadata"] | _DESCRIBED["tokenizer"]).items()
    }
    tensors = {n: Tensor(tuple(shape)) for n, shape in described["tensors"].items()}
    return Model(name, metadata, tensors)


def bpe(old: Model) -> Model:
    """The same model with a tokenizer of byte pairs."""
    rest = {k: v for k, v in old.metadata.items() if not k.startswith("tokenizer.ggml.")}
    count = len(old.metadata["tokenizer.ggml.tokens"])
    tokens = [*(chr(33 + i) for i in range(94)), *(f"t{i}" for i in range(count - 94))]
    return replace(
        old,
        metadata=rest
        | {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "gpt-2",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": np.ones(count, np.int32),
            "tokenizer.ggml.merges": ["t 0", "t 1"],
            "tokenizer.ggml.eos_token_id": 2,
        },
    )


def pack(made: Model) -> bytes:
    """The bytes of a GGUF file, version 3, with random but ordinary numbers."""
    head, data = [], []
    offset = 0
    rng = np.random.default_rng(0)
    for name, tensor in made.tensors.items():
        dims = tensor.shape
        raw = _numbers(rng, tensor)
        head.append(_text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
        head.append(struct.pack("<IQ", TYPE_IDS[tensor.type], offset))
        data.append(raw + bytes(-len(raw) % ALIGNMENT))
        offset += len(data[-1])
    keys = [_text(key) + _value(value) for key, value in made.metadata.items()]
    start = struct.pack("<4sIQQ", b"GGUF", 3, len(made.tensors), len(keys))
    whole = b"".join((start, *keys, *head))
    return b"".join((whole, bytes(-len(whole) % ALIGNMENT), *data))


def _numbers(rng: np.random.Generator, tensor: Tensor) -> bytes:
    count = prod(tensor.shape)
    if tensor.type in ("F32", "F16"):
        values = rng.standard_normal(count, np.float32) * 0.1
        return values.astype(np.float32 if tensor.type == "F32" else np.float16).tobytes()
    return bytes(rng.integers(0, 60, tensor.nbytes, np.uint8))


def _differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if key not in new:
            yield f"no {key}"
        elif repr(old.get(key)) != repr(new[key]):
            yield f"{key}={new[key]!r:.100}"


def _value_of(value: Any) -> Any:
    if isinstance(value, dict):
        return np.array(value["values"], value["dtype"])
    return value
