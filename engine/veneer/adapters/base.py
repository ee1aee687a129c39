"""What a base is: the facts about a GGUF model that adapters, stacks and people need.

Read once when a base is linked and stored as JSON. `architecture_id`, `tokenizer_id` and
`quantization` are digests over exactly the keys that define them, so two files that differ in
their name or licence alone have the same ones.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from typing import BinaryIO

import numpy as np
from msgspec import Struct

from veneer.adapters.base_checks import check_base
from veneer.adapters.tensor_groups import TensorGroup, tensor_groups
from veneer.formats import gguf
from veneer.formats.foreign import one_line
from veneer.formats.gguf import GgufHeader
from veneer.formats.gguf_types import Value
from veneer.formats.naming import OUTPUT_HEAD
from veneer.formats.rows import Heads
from veneer.formats.tokenizer import sample_of
from veneer.identity import PREFIX, Digest

_ORIGIN_KEYS = 64
_NOT_ORIGIN = frozenset({"architecture", "type"})


class Base(Struct, frozen=True, kw_only=True, dict=True):
    """One GGUF model. Shapes are in ggml's order: (in, out) for a matrix.

    `known_as` holds the names under which adapters may declare it. `n_head` and `n_head_kv` are
    0 for architectures without attention, and the largest where layers differ. `quantization` is
    a digest over the file type and every tensor's name, type and shape. `bytes` is the file size.

    `origin` holds the texts under `general.`, without that prefix, each on one bounded line: what
    the file says of where it comes from. `groups` says how it is quantized. `tokenizer` is the
    tokenizer's family. `key_length` and `value_length` are the widths of one attention head; 0
    where the file does not say, and they are an equal share of the width. `tokens` is a sample of
    its vocabulary.
    """

    architecture: str
    name: str | None
    known_as: tuple[str, ...]
    license: str | None
    n_layers: int
    n_embd: int
    n_head: int
    n_head_kv: int
    n_vocab: int
    n_ctx_train: int
    parameters: int
    file_type: int | None
    quantization: Digest
    architecture_id: Digest
    tokenizer_id: Digest
    tied_embeddings: bool
    tensors: dict[str, tuple[int, ...]]
    chat_template: str | None
    bytes: int
    heads_differ: bool = False
    origin: dict[str, str] = {}
    groups: tuple[TensorGroup, ...] = ()
    tokenizer: str | None = None
    key_length: int = 0
    value_length: int = 0
    tokens: tuple[str, ...] = ()

    @property
    def kv_per_token(self) -> int:
        """Numbers that each token adds to the keys and values of all layers."""
        share = self.n_embd // max(self.n_head, 1)
        widths = (self.key_length or share) + (self.value_length or share)
        return self.n_layers * self.n_head_kv * widths

    @property
    def heads(self) -> Heads:
        """The attention heads, for `formats.rows`; none where the layers differ in them."""
        if self.heads_differ:
            return Heads(queries=0, keys=0)
        return Heads(queries=self.n_head, keys=self.n_head_kv)

    @cached_property
    def layout(self) -> Digest:
        """Which rows lie where: a digest over every tensor's name and shape."""
        return _digest(f"{name} {shape}".encode() for name, shape in sorted(self.tensors.items()))


def read_base(file: BinaryIO) -> Base:
    """Read an open GGUF file as a base. Raises `FormatError` if it is not one, or a broken one."""
    header = gguf.read_header(file)
    facts = check_base(header)
    tensors = {tensor.name: tensor.shape for tensor in header.tensors.values()}
    return Base(
        architecture=facts.architecture,
        name=header.text("general.name"),
        known_as=_known_as(header),
        license=header.text("general.license"),
        n_layers=facts.n_layers,
        n_embd=facts.n_embd,
        n_head=facts.n_head,
        n_head_kv=facts.n_head_kv,
        n_vocab=facts.n_vocab,
        n_ctx_train=facts.n_ctx_train,
        parameters=sum(map(prod, tensors.values())),
        file_type=header.integer("general.file_type"),
        quantization=_quantization(header),
        architecture_id=_digest_of_keys(header, ("general.architecture", f"{facts.architecture}.")),
        tokenizer_id=_digest_of_keys(header, ("tokenizer.ggml.",)),
        tied_embeddings=OUTPUT_HEAD not in tensors,
        tensors=tensors,
        chat_template=header.text("tokenizer.chat_template"),
        bytes=header.file_size,
        heads_differ=facts.heads_differ,
        origin=_origin(header),
        groups=tensor_groups(header.tensors.values()),
        tokenizer=header.text("tokenizer.ggml.model"),
        key_length=header.integer(f"{facts.architecture}.attention.key_length") or 0,
        value_length=header.integer(f"{facts.architecture}.attention.value_length") or 0,
        tokens=sample_of(_tokens(header)),
    )


def _tokens(header: GgufHeader) -> tuple[bytes, ...]:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    return tokens if isinstance(tokens, tuple) else ()


def _origin(header: GgufHeader) -> dict[str, str]:
    texts = (
        (key.removeprefix("general."), one_line(value))
        for key, value in header.metadata.items()
        if key.startswith("general.") and isinstance(value, str)
    )
    told = ((key, value) for key, value in texts if value and key not in _NOT_ORIGIN)
    return dict(itertools.islice(told, _ORIGIN_KEYS))


def _known_as(header: GgufHeader) -> tuple[str, ...]:
    parts = [header.text(f"general.{key}") for key in ("basename", "size_label")]
    built = " ".join(part for part in parts if part) if all(parts) else None
    return tuple(name for name in (header.text("general.name"), built) if name)


def _quantization(header: GgufHeader) -> Digest:
    lines = [f"file_type {header.integer('general.file_type')}"]
    lines += [f"{t.name} {t.type} {list(t.shape)}" for t in _sorted_tensors(header)]
    return _digest(line.encode() for line in lines)


def _sorted_tensors(header: GgufHeader) -> list[gguf.TensorInfo]:
    return sorted(header.tensors.values(), key=lambda tensor: tensor.name)


def _digest_of_keys(header: GgufHeader, prefixes: tuple[str, ...]) -> Digest:
    return _digest(_lines(header.metadata, prefixes))


def _lines(metadata: Mapping[str, Value], prefixes: tuple[str, ...]) -> Iterable[bytes]:
    for key in sorted(metadata):
        if key.startswith(prefixes):
            yield key.encode()
            yield from _pieces(metadata[key])


def _pieces(value: Value) -> Iterable[bytes]:
    if isinstance(value, tuple):
        yield from value
    elif isinstance(value, np.ndarray):
        yield value.dtype.str.encode()
        yield value.tobytes()
    else:
        yield repr(value).encode()


def _digest(pieces: Iterable[bytes]) -> Digest:
    """SHA-256 over pieces, each after its length, so that no two lists share their bytes."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "little") + piece)
    return Digest(PREFIX + digest.hexdigest())
