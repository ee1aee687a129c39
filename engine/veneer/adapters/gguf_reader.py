"""A GGUF adapter: its metadata says how strongly, and its tensors are named by what they adapt.

A LoRA has pairs of factors. A control vector, as llama.cpp's cvector-generator and repeng write
it, has one direction a layer and says so in its architecture.
"""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

from veneer.adapters.contents import Contents, Matrix, Part, Stored
from veneer.adapters.factors import Pair, check_floats, checked, low_rank
from veneer.adapters.model import Target
from veneer.adapters.source import Source, gguf_name
from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import gguf, gguf_tensors, peft
from veneer.formats.gguf import GgufHeader
from veneer.formats.naming import TOKEN_EMBEDDING
from veneer.formats.peft_values import ALPHA_MAX
from veneer.identity import Digest, digest_from

_SIDES: Final = {".lora_a": "a", ".lora_b": "b"}
_INVOCATION: Final = "adapter.alora.invocation_tokens"
_GGUF_KEYS: Final = frozenset(
    {
        "adapter.type",
        "adapter.lora.alpha",
        "adapter.lora.task_name",
        "adapter.lora.prompt_prefix",
        _INVOCATION,
    }
)
CONTROL_VECTOR: Final = "controlvector"
_DIRECTION: Final = re.compile(r"direction\.([1-9][0-9]{0,3})", re.ASCII)


@contextmanager
def open_gguf(source: Source) -> Generator[Contents]:
    """Open a GGUF LoRA or control vector. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(gguf_name(source)) as file:
        header = gguf.read_header(file)
        stored = {t.name: Stored(t.name, t.type, t.shape[::-1]) for t in header.tensors.values()}

        def read(name: str) -> Matrix:
            return gguf_tensors.read_tensor(file, header, name)

        make = _control_vector if is_control_vector(header) else _lora
        yield make(header, stored, read)


def is_adapter(header: GgufHeader) -> bool:
    """Whether a GGUF file is an adapter of some kind, and not a model."""
    return header.text("general.type") == "adapter" or is_control_vector(header)


def is_control_vector(header: GgufHeader) -> bool:
    """Whether a GGUF file has directions for the layers of another."""
    return header.text("general.architecture") == CONTROL_VECTOR


def _lora(
    header: GgufHeader, stored: Mapping[str, Stored], read: Callable[[str], Matrix]
) -> Contents:
    architecture = _check_gguf_kind(header)
    pairs, alpha = _pairs(stored), _gguf_alpha(header)
    invocation = _invocation_tokens(header)
    return Contents(
        kind="alora" if invocation else "lora",
        # llama.cpp takes an alpha of 0 to mean "no alpha": the factors as they are.
        parts=tuple(low_rank(p, alpha / p.rank if alpha else 1.0, read) for p in pairs),
        tensors=stored,
        read=read,
        base_model=header.text("general.base_model.0.name"),
        base_digest=_base_digest(header),
        architecture=architecture,
        invocation_tokens=invocation,
    )


def _control_vector(
    header: GgufHeader, stored: Mapping[str, Stored], read: Callable[[str], Matrix]
) -> Contents:
    widths = {tensor.shape for tensor in stored.values()}
    for tensor in stored.values():
        check_floats(tensor)
        if _DIRECTION.fullmatch(tensor.name) is None or len(tensor.shape) != 1:
            raise FormatError("NAME", f"{tensor.name} is no direction of a control vector.")
    if len(widths) != 1:
        raise FormatError("SHAPE", "A control vector has at least one layer, all of one width.")
    return Contents(
        kind="control_vector",
        parts=tuple(_direction(stored[name], read) for name in sorted(stored, key=_layer)),
        tensors=stored,
        read=read,
        base_digest=_base_digest(header),
    )


def _direction(tensor: Stored, read: Callable[[str], Matrix]) -> Part:
    (width,) = tensor.shape
    target = Target(module=tensor.name, operation="direction", out_features=width, count=width)
    return Part(target, product_of=(tensor.name,), values=lambda: read(tensor.name))


def _layer(name: str) -> int:
    return int(name.rpartition(".")[2])


def _invocation_tokens(header: GgufHeader) -> tuple[int, ...]:
    if _INVOCATION not in header.metadata:
        return ()
    tokens = tuple(header.integers(_INVOCATION))
    if not tokens or min(tokens) < 0:
        raise FormatError("VALUE", f"{_INVOCATION} has no tokens, or impossible ones.")
    return tokens


def _base_digest(header: GgufHeader) -> Digest | None:
    said = header.text(peft.BASE_DIGEST_KEY)
    digest = None if said is None else digest_from(said)
    if said is not None and digest is None:
        raise FormatError("VALUE", f"{peft.BASE_DIGEST_KEY} is not a SHA-256 digest.")
    return digest


def _pairs(stored: Mapping[str, Stored]) -> tuple[Pair, ...]:
    sides: dict[str, dict[str, Stored]] = {}
    for tensor in stored.values():
        target, side = _split_name(tensor.name)
        sides.setdefault(target, {})[side] = tensor
    if not sides:
        raise FormatError("PAIR", "The adapter has no weights.")
    return tuple(checked(_pair(target, sides[target]), stacks=True) for target in sorted(sides))


def _split_name(name: str) -> tuple[str, str]:
    target, side = name[:-7], _SIDES.get(name[-7:])
    if side is None or not target or ".lora_" in target:
        what = "a trained normalisation" if name.endswith("_norm.weight") else "not a LoRA factor"
        raise UnsupportedAdapter(
            f"This adapter cannot be applied exactly: the tensor {name} is {what}."
        )
    return target, side


def _pair(target: str, sides: Mapping[str, Stored]) -> Pair:
    for side in ("a", "b"):
        if side not in sides:
            raise FormatError("PAIR", f"{target} has only one of its two LoRA factors.")
    embedding = target == TOKEN_EMBEDDING
    return Pair(target, sides["a"], sides["b"], embedding=embedding, a_flipped=embedding)


def _check_gguf_kind(header: GgufHeader) -> str:
    """The architecture of a GGUF LoRA, after making sure that it is one."""
    if header.text("general.type") != "adapter":
        raise FormatError(
            "VALUE", "This GGUF file is a model, not an adapter. Import it as a base."
        )
    kind = header.text("adapter.type")
    if kind != "lora":
        raise UnsupportedAdapter(
            f"This GGUF adapter is of the kind {kind!r}; only 'lora' is known."
        )
    for key in header.metadata:
        if key.startswith("adapter.") and key not in _GGUF_KEYS:
            raise UnsupportedAdapter(f"The adapter sets {key!r}, which this Veneer does not know.")
    architecture = header.text("general.architecture")
    if not architecture:
        raise FormatError("KEY", "The adapter does not say for which architecture it was made.")
    return architecture


def _gguf_alpha(header: GgufHeader) -> float:
    alpha = header.metadata.get("adapter.lora.alpha")
    if not isinstance(alpha, float):
        raise FormatError("KEY", "The adapter does not say how strong it is (adapter.lora.alpha).")
    if abs(alpha) > ALPHA_MAX:
        raise FormatError("VALUE", f"The adapter's alpha of {alpha} is not believable.")
    return alpha
