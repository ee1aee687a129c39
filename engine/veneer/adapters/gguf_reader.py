"""A GGUF LoRA: its metadata says how strongly, and its tensors are named by what they adapt."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from veneer.adapters.contents import Contents, Matrix, Stored
from veneer.adapters.factors import Pair, checked, low_rank
from veneer.adapters.source import Source, gguf_name
from veneer.errors import FormatError, UnsupportedAdapter
from veneer.formats import gguf, gguf_tensors, peft
from veneer.formats.gguf import GgufHeader
from veneer.formats.naming import TOKEN_EMBEDDING
from veneer.formats.peft_values import ALPHA_MAX
from veneer.identity import Digest, digest_from

_SIDES: Final = {".lora_a": "a", ".lora_b": "b"}
_GGUF_KEYS: Final = frozenset(
    {"adapter.type", "adapter.lora.alpha", "adapter.lora.task_name", "adapter.lora.prompt_prefix"}
)


@contextmanager
def open_gguf(source: Source) -> Generator[Contents]:
    """Open a GGUF LoRA. Raises `FormatError` and `UnsupportedAdapter`."""
    with source.open(gguf_name(source)) as file:
        header = gguf.read_header(file)
        architecture = _check_gguf_kind(header)
        stored = {t.name: Stored(t.name, t.type, t.shape[::-1]) for t in header.tensors.values()}
        pairs, alpha = _pairs(stored), _gguf_alpha(header)

        def read(name: str) -> Matrix:
            return gguf_tensors.read_tensor(file, header, name)

        yield Contents(
            kind="lora",
            # llama.cpp takes an alpha of 0 to mean "no alpha": the factors as they are.
            parts=tuple(low_rank(p, alpha / p.rank if alpha else 1.0, read) for p in pairs),
            tensors=stored,
            read=read,
            base_model=header.text("general.base_model.0.name"),
            base_digest=_base_digest(header),
            architecture=architecture,
        )


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
    return tuple(checked(_pair(target, sides[target])) for target in sorted(sides))


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
    if "adapter.alora.invocation_tokens" in header.metadata:
        raise UnsupportedAdapter("This is an activated LoRA (aLoRA), which is not supported yet.")
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
