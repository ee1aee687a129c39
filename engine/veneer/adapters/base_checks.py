"""Is this GGUF file a model that llama.cpp can load without dying?

llama.cpp checks part of this with assertions that end the process, and part of it not at all.
Order: that it is a model and a whole one, its sizes and constants, its tokenizer, and, for the
architectures that adapters can be placed on, that the expected tensors are there in the shapes
that the sizes imply.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veneer.adapters.base_types import check_types
from veneer.errors import FormatError
from veneer.formats import naming
from veneer.formats.gguf import GgufHeader

_LAYERS_MAX = 512
_CONTEXT_MAX = 1 << 28
_EXPERTS_MAX = 512
# Their keys and values come from a shared projection, whose parts the loader compares.
_LATENT = frozenset({"deepseek2"})
_LATENT_KEYS = ("attention.key_length", "rope.dimension_count")
# All others of the table rotate whole heads, and llama.cpp asserts it.
_PARTLY_ROTATED = _LATENT | {
    *("bloom", "cohere2", "command-r", "gemma", "gemma2", "gemma3", "glm4", "gpt2", "gptneox"),
    *("phi2", "phi3", "stablelm"),
}
_TOKENIZERS = frozenset({"gpt2", "llama"})
_ROPE_SCALINGS = (None, "none", "linear", "yarn", "longrope")


@dataclass(frozen=True)
class Facts:
    """The checked sizes of a base. See `base.Base`."""

    architecture: str
    n_layers: int
    n_embd: int
    n_head: int
    n_head_kv: int
    n_vocab: int
    n_ctx_train: int
    heads_differ: bool


def check_base(header: GgufHeader) -> Facts:
    """The sizes of a base. Raises `FormatError` with what is wrong, for people."""
    architecture = _check_kind(header)
    facts = _sizes(header, architecture)
    _check_constants(header, architecture)
    _check_depth(header, facts)
    _check_experts(header, architecture)
    _check_tokenizer(header, facts.n_vocab)
    check_types(header)
    if naming.supported(architecture):
        _check_family(header, facts)
    if architecture == "llama":
        _check_llama(header, facts)
    return facts


def _check_kind(header: GgufHeader) -> str:
    kind = header.text("general.type")
    if kind == "adapter":
        message = "This GGUF file is an adapter, not a base model. Import it as an adapter."
        raise FormatError("VALUE", message)
    architecture = header.text("general.architecture")
    if not architecture:
        raise FormatError("KEY", "The file does not say which architecture it has.")
    if kind not in (None, "model") or architecture in ("clip", "controlvector", "imatrix"):
        raise FormatError("VALUE", "This GGUF file is not a language model.")
    parts = header.integer("split.count") or 1
    if parts > 1:
        message = (
            f"This is one of {parts} parts of a model. Merge them with llama-gguf-split first."
        )
        raise FormatError("VALUE", message)
    if not header.tensors:
        raise FormatError("COUNT", "The file has no tensors: it is a vocabulary without a model.")
    return architecture


def _sizes(header: GgufHeader, architecture: str) -> Facts:
    def required(key: str, most: int) -> int:
        return _required(header, f"{architecture}.{key}", most)

    n_layers = required("block_count", _LAYERS_MAX)
    heads = _per_layer(header, f"{architecture}.attention.head_count", n_layers)
    heads_kv = _per_layer(header, f"{architecture}.attention.head_count_kv", n_layers)
    return Facts(
        architecture=architecture,
        n_layers=n_layers,
        n_embd=required("embedding_length", 1 << 24),
        n_head=max(heads, default=0),
        n_head_kv=max(heads_kv or heads, default=0),
        n_vocab=len(header.strings("tokenizer.ggml.tokens")),
        n_ctx_train=required("context_length", _CONTEXT_MAX),
        heads_differ=len({*heads}) > 1 or len({*heads_kv}) > 1,
    )


def _required(header: GgufHeader, key: str, most: int) -> int:
    value = header.integer(key)
    if value is None:
        raise FormatError("KEY", f"The model does not say its {key}.")
    if not 1 <= value <= most:
        raise FormatError("VALUE", f"{key} is {value}; 1 to {most} are possible.")
    return value


def _per_layer(header: GgufHeader, key: str, n_layers: int) -> tuple[int, ...]:
    values = header.integers(key)
    if len(values) not in (0, 1, n_layers):
        raise FormatError("ARRAY", f"{key} has {len(values)} entries for {n_layers} layers.")
    if any(not 0 <= value <= 1 << 16 for value in values):
        raise FormatError("VALUE", f"{key} has an impossible number of heads.")
    return values


def _check_constants(header: GgufHeader, architecture: str) -> None:
    """Constants of the arithmetic that fail an assertion, or give nothing but NaN."""
    for name in ("layer_norm_rms_epsilon", "layer_norm_epsilon"):
        epsilon = header.metadata.get(f"{architecture}.attention.{name}", 0.0)
        if not isinstance(epsilon, float) or not 0 <= epsilon <= 1:
            raise FormatError("VALUE", f"The model's {name} of {epsilon} is impossible.")
    base = header.metadata.get(f"{architecture}.rope.freq_base", 1.0)
    if not isinstance(base, float) or base <= 0:
        raise FormatError("VALUE", f"The model's rotation base of {base} is impossible.")
    scaling = header.text(f"{architecture}.rope.scaling.type")
    if scaling not in _ROPE_SCALINGS:
        raise FormatError("VALUE", f"The model scales its rotation in an unknown way: {scaling!r}.")


def _check_depth(header: GgufHeader, facts: Facts) -> None:
    """Layers that only predict further tokens are counted among the others."""
    extra = header.integer(f"{facts.architecture}.nextn_predict_layers") or 0
    if extra >= facts.n_layers:
        message = f"{extra} of the model's {facts.n_layers} layers only predict further tokens."
        raise FormatError("VALUE", message)


def _check_experts(header: GgufHeader, architecture: str) -> None:
    experts = header.integer(f"{architecture}.expert_count") or 0
    used = header.integer(f"{architecture}.expert_used_count") or 0
    if experts > _EXPERTS_MAX or used > experts or (experts and not used):
        raise FormatError("VALUE", f"The model claims to use {used} of {experts} experts.")


def _check_tokenizer(header: GgufHeader, n_vocab: int) -> None:
    if not header.text("tokenizer.ggml.model") or not n_vocab:
        raise FormatError("KEY", "The model has no tokenizer.")
    for key in ("tokenizer.ggml.scores", "tokenizer.ggml.token_type"):
        values = header.metadata.get(key)
        if isinstance(values, np.ndarray) and values.size != n_vocab:
            raise FormatError("ARRAY", f"{key} has {values.size} entries for {n_vocab} tokens.")
    _check_unique(header.strings("tokenizer.ggml.tokens"))
    if header.text("tokenizer.ggml.model") == "llama":
        _check_bytes(frozenset(header.strings("tokenizer.ggml.tokens")))
    _check_special_tokens(header, n_vocab)


def _check_bytes(tokens: frozenset[bytes]) -> None:
    """SentencePiece spells what it has no word for, and llama.cpp aborts where it cannot."""
    for byte in range(256):
        if b"<0x%02X>" % byte not in tokens and bytes([byte]) not in tokens:
            message = f"The tokenizer has no token for the byte {byte:#04x}, so not for every text."
            raise FormatError("VALUE", message)


def _check_special_tokens(header: GgufHeader, n_vocab: int) -> None:
    for end in ("bos", "eos"):
        adds = header.metadata.get(f"tokenizer.ggml.add_{end}_token")
        if adds is True and f"tokenizer.ggml.{end}_token_id" not in header.metadata:
            raise FormatError("KEY", f"The model adds a {end} token, but does not say which.")
    for key in header.metadata:
        if key.startswith("tokenizer.ggml.") and key.endswith("_token_id"):
            token = header.integer(key) or 0
            if token >= n_vocab:
                raise FormatError("VALUE", f"{key} is {token}, but there are {n_vocab} tokens.")


def _check_unique(tokens: tuple[bytes, ...]) -> None:
    # llama.cpp gives empty tokens names of their own, so only the others must differ.
    empty = tokens.count(b"")
    if len(set(tokens)) - (1 if empty else 0) != len(tokens) - empty:
        raise FormatError("ARRAY", "The vocabulary has the same token twice.")


def _check_family(header: GgufHeader, facts: Facts) -> None:
    """What llama.cpp takes for granted of the architectures in the table."""
    tokenizer = header.text("tokenizer.ggml.model")
    if tokenizer not in _TOKENIZERS:
        raise FormatError("VALUE", f"Its tokenizer {tokenizer!r:.40} is of another kind of model.")
    if facts.architecture in _LATENT:
        _check_latent(header, facts)
    _check_heads(header, facts)


def _check_latent(header: GgufHeader, facts: Facts) -> None:
    """Where keys are kept compressed, all heads share the one that there is."""
    for key in _LATENT_KEYS:
        _required(header, f"{facts.architecture}.{key}", 1 << 16)
    compressed = header.integer(f"{facts.architecture}.attention.key_length_mla")
    if compressed and facts.n_head_kv != 1:
        message = f"Compressed keys are of one head, and the model claims {facts.n_head_kv}."
        raise FormatError("VALUE", message)


def _check_heads(header: GgufHeader, facts: Facts) -> None:
    """The heads are equal parts of the width, shared evenly, and their rotation fits into one."""
    if facts.n_head < 1 or facts.n_head_kv < 1:
        raise FormatError("KEY", "The model does not say how many attention heads it has.")
    if facts.n_head % facts.n_head_kv:
        message = f"{facts.n_head} heads cannot share {facts.n_head_kv} key-value heads."
        raise FormatError("VALUE", message)
    given = header.integer(f"{facts.architecture}.attention.key_length")
    if given is None and facts.n_embd % facts.n_head:
        raise FormatError("VALUE", f"A width of {facts.n_embd} has no {facts.n_head} equal heads.")
    head = facts.n_embd // facts.n_head if given is None else given
    rope = header.integer(f"{facts.architecture}.rope.dimension_count")
    rotated = head if rope is None else rope
    partly = facts.architecture in _PARTLY_ROTATED
    if not 2 <= rotated <= head or rotated % 2 or (rotated < head and not partly):
        message = f"The head size {head} does not fit its rotation of {rotated}."
        raise FormatError("VALUE", message)
    values = header.integer(f"{facts.architecture}.attention.value_length")
    if not facts.heads_differ and facts.architecture not in _LATENT:
        _check_projections(header, facts, head, head if values is None else values)


def _check_projections(header: GgufHeader, facts: Facts, keys: int, values: int) -> None:
    """Each layer's projections, where they are stored apart, have the rows of their heads."""
    sides = {
        "attn_q": (1, facts.n_head * keys),
        "attn_k": (1, facts.n_head_kv * keys),
        "attn_v": (1, facts.n_head_kv * values),
        "attn_output": (0, facts.n_head * values),
    }
    for layer in range(facts.n_layers):
        packed = f"blk.{layer}.attn_qkv.weight" in header.tensors
        for role, (side, size) in sides.items():
            name = f"blk.{layer}.{role}.weight"
            tensor = header.tensors.get(name)
            if tensor is None and (role == "attn_output" or not packed):
                raise FormatError("NAME", f"The model lacks the tensor {name}.")
            if tensor is not None and (len(tensor.shape) != 2 or tensor.shape[side] != size):
                message = f"{tensor.name} is {list(tensor.shape)}, and the heads imply {size}."
                raise FormatError("SHAPE", message)


def _check_llama(header: GgufHeader, facts: Facts) -> None:
    head = _head_size(header, facts)
    if "llama.attention.layer_norm_rms_epsilon" not in header.metadata:
        raise FormatError("KEY", "The model does not say its normalisation (rms epsilon).")
    for name, shape in _llama_shapes(header, facts, head):
        _check_tensor(header, name, shape)


def _check_tensor(header: GgufHeader, name: str, shape: tuple[int, ...]) -> None:
    tensor = header.tensors.get(name)
    if tensor is None:
        raise FormatError("NAME", f"The model lacks the tensor {name}.")
    if tensor.shape != shape:
        found, wanted = list(tensor.shape), list(shape)
        raise FormatError("SHAPE", f"{name} is {found}; the model's sizes imply {wanted}.")


def _head_size(header: GgufHeader, facts: Facts) -> int:
    """The width of an attention head, which the rotation must cover in pairs."""
    given = header.integer("llama.attention.key_length")
    head = facts.n_embd // facts.n_head if given is None else given
    rope = header.integer("llama.rope.dimension_count")
    values = header.integer("llama.attention.value_length")
    if head < 2 or head % 2 or rope not in (None, head) or values not in (None, head):
        message = f"The head size {head} does not fit its rotation ({rope}) or values ({values})."
        raise FormatError("VALUE", message)
    return head


def _llama_shapes(
    header: GgufHeader, facts: Facts, head: int
) -> Iterator[tuple[str, tuple[int, ...]]]:
    width, queries, keys = facts.n_embd, facts.n_head * head, facts.n_head_kv * head
    yield "token_embd.weight", (width, facts.n_vocab)
    yield "output_norm.weight", (width,)
    if "output.weight" in header.tensors:
        yield "output.weight", (width, facts.n_vocab)
    inner = _feed_forward(header, facts.n_layers)
    for layer in range(facts.n_layers):
        block = f"blk.{layer}"
        yield f"{block}.attn_norm.weight", (width,)
        yield f"{block}.attn_q.weight", (width, queries)
        yield f"{block}.attn_k.weight", (width, keys)
        yield f"{block}.attn_v.weight", (width, keys)
        yield f"{block}.attn_output.weight", (queries, width)
        yield f"{block}.ffn_norm.weight", (width,)
        if inner:
            yield f"{block}.ffn_gate.weight", (width, inner)
            yield f"{block}.ffn_up.weight", (width, inner)
            yield f"{block}.ffn_down.weight", (inner, width)


def _feed_forward(header: GgufHeader, n_layers: int) -> int | None:
    """The inner width of the feed-forward part; None for a mixture of experts."""
    if header.integer("llama.expert_count"):
        return None
    sizes = _per_layer(header, "llama.feed_forward_length", n_layers)
    if len(sizes) != 1 or sizes[0] < 1:
        raise FormatError("KEY", "The model does not say its llama.feed_forward_length.")
    return sizes[0]
