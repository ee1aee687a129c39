"""What an adapter is, once its file format is forgotten.

Everything here is stored in the catalog as JSON and shown to people; none of it is a weight.
"""

from typing import Literal

from msgspec import Struct

Kind = Literal[
    "lora",
    "dora",
    "ia3",
    "alora",
    "control_vector",
    "sparse_delta",
    "prompt",
    "prefix",
]
"""The kinds of adapter. rsLoRA is a LoRA with another scaling. Only "lora" is read so far."""

SourceFormat = Literal["peft", "gguf"]


class Target(Struct, frozen=True, kw_only=True):
    """One adapted weight: y = W·x becomes y = W·x + scaling · B·(A·x).

    `module` is the source's own name: a Hugging Face module path, or a GGUF tensor name. A is
    (rank, in_features) and B is (out_features, rank); for an embedding, in_features is the size
    of the vocabulary.
    """

    module: str
    rank: int
    in_features: int
    out_features: int
    scaling: float
    embedding: bool = False


class Adapter(Struct, frozen=True, kw_only=True):
    """A complete description of an adapter.

    `base_model` and `base_revision` are what its maker declared; `architecture` is GGUF's name
    for it and known for adapters in GGUF form alone. `dtype` is the float type of the weights, or
    "mixed". `weights` counts numbers, not tensors. `warnings` are sentences for people.
    """

    kind: Kind
    source_format: SourceFormat
    targets: tuple[Target, ...]
    base_model: str | None
    base_revision: str | None
    architecture: str | None
    dtype: str
    weights: int
    warnings: tuple[str, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The different ranks, ascending."""
        return tuple(sorted({target.rank for target in self.targets}))
