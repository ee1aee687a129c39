"""What an adapter is, once its file format is forgotten.

Everything here is stored in the catalog as JSON and shown to people; none of it is a weight.
"""

from typing import Literal

from msgspec import Struct

from veneer.identity import Digest

Kind = Literal[
    "lora",
    "dora",
    "ia3",
    "alora",
    "vera",
    "loha",
    "lokr",
    "control_vector",
    "sparse_delta",
    "tokens",
    "prompt",
    "prefix",
]
"""The kinds of adapter, by their leading part. rsLoRA is a LoRA with another scaling."""

SourceFormat = Literal["peft", "mlx", "gguf", "lone"]

Operation = Literal[
    "low_rank",  # y += scaling · B·(A·x); what LoRA, VeRA, LoHa and LoKr come to
    "magnitude",  # DoRA: each row of W + scaling · B·A is rescaled to a trained length
    "scale_outputs",  # IA³: y becomes v ∘ y
    "scale_inputs",  # IA³ on a feed-forward module: x becomes v ∘ x
    "bias",  # y gets a trained bias instead of the base's
    "add_bias",  # y += scaling · b
    "replace",  # W is another matrix (or a norm another vector)
    "rows",  # some tokens' rows of an embedding are others
    "sparse",  # some entries of W get something added
    "direction",  # the residual stream after a layer += v
    "prompt",  # trained vectors before the first token
    "prefix",  # trained keys and values before the first token
]
"""What is done to one weight or layer. Only the first is executed by the stock lane."""


class Target(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One thing that an adapter does: an operation on a weight, or on a layer.

    Stored as an array, which is read twice as fast as names and values: fields keep their places,
    and a new one comes last, with a default.

    `module` is the source's own name: a Hugging Face module path, or a GGUF tensor name. For
    `low_rank`, A is (rank, in_features) and B is (out_features, rank); for an embedding,
    in_features is the size of the vocabulary. `rows` replaces those of `tokens`, out_features wide.
    Sizes that an operation does not have are 0, and `count` is the number of trained numbers. Of
    a `cut` one, A may have more columns than the module has inputs; only the first ones count.
    Where a stack of `experts` is meant, all have the sizes given.
    """

    module: str
    operation: Operation = "low_rank"
    rank: int = 0
    in_features: int = 0
    out_features: int = 0
    scaling: float = 1.0
    embedding: bool = False
    tokens: tuple[int, ...] = ()
    count: int = 0
    cut: bool = False
    experts: int = 0


class Witness(Struct, frozen=True, kw_only=True):
    """A sample, as the stored `tensor`, of the base's own weight of `module`: of its `rows`, those
    that `formats.witness` takes, each `width` wide."""

    module: str
    tensor: str
    rows: int
    width: int


class Adapter(Struct, frozen=True, kw_only=True):
    """A complete description of an adapter.

    `base_model`, `base_revision` and `base_digest` are what its maker declared; `architecture` is
    GGUF's name for it and known for adapters in GGUF form alone. `vocabulary` is the number of
    tokens of the tokenizer that came with it, `tokens` a sample of them, and `chat_template` what
    came with it too. An aLoRA acts from its `invocation_tokens` on. `dtype` is the float type of
    the weights, or "mixed". `weights` counts numbers, not tensors. `warnings` are sentences for
    people. Its `witnesses` tell over which weights it was trained.
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
    base_digest: Digest | None = None
    vocabulary: int | None = None
    invocation_tokens: tuple[int, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    tokens: tuple[str, ...] = ()
    chat_template: str | None = None

    @property
    def ranks(self) -> tuple[int, ...]:
        """The different ranks, ascending."""
        return tuple(sorted({target.rank for target in self.targets if target.rank}))
