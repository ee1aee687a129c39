"""What PEFT trains beside the factors of a LoRA, as parts: one tensor, one operation."""

from collections.abc import Callable, Mapping
from typing import Final

from veneer.adapters.contents import Matrix, Part, Stored
from veneer.adapters.factors import Pair, check_floats
from veneer.adapters.model import Target
from veneer.adapters.source import PEFT_CONFIG
from veneer.errors import FormatError
from veneer.formats.peft_beside import Beside
from veneer.formats.peft_keys import BesideKey

_DIMS: Final = {"magnitude": 1, "add_bias": 1, "bias": 1, "rows": 2}


def beside_part(
    key: BesideKey,
    stored: Stored,
    beside: Beside,
    scaling: float,
    read: Callable[[str], Matrix],
) -> Part:
    """The part that a tensor makes. `scaling` is its module's, for a LoRA's own bias.

    Raises `FormatError` CONFIG, SHAPE or DTYPE.
    """
    if not beside.expects(key):
        message = f"The config does not say what {stored.name} is for, so PEFT would not apply it."
        raise FormatError("CONFIG", message)
    check_floats(stored)
    shape = stored.shape
    if len(shape) != _DIMS.get(key.operation, min(len(shape), 2)):
        raise FormatError("SHAPE", f"{stored.name} has the shape {list(shape)}.")
    tokens = beside.tokens_of(key.module) if key.operation == "rows" else ()
    if tokens and len(tokens) != shape[0]:
        message = f"{stored.name} has {shape[0]} rows, but {PEFT_CONFIG} lists {len(tokens)}."
        raise FormatError("CONFIG", message)
    target = Target(
        module=key.module,
        operation=key.operation,
        out_features=shape[1] if tokens else shape[0],
        in_features=shape[1] if len(shape) == 2 and not tokens else 0,
        scaling=scaling if key.operation == "add_bias" else 1.0,
        tokens=tokens,
        count=shape[0] * (shape[1] if len(shape) == 2 else 1),
    )
    product_of = (stored.name,) if key.operation == "add_bias" else ()
    return Part(target, product_of, values=lambda: read(stored.name))


def check_beside(parts: tuple[Part, ...], pairs: Mapping[str, Pair], beside: Beside) -> None:
    """Each magnitude and LoRA bias has its module's length, and all that was trained is here.

    Raises `FormatError` PAIR or SHAPE.
    """
    missing = beside.missing([(part.target.module, part.target.operation) for part in parts])
    if missing is not None:
        raise FormatError("PAIR", f"The config lists {missing}, but there are no weights for it.")
    lengths = {
        part.target.module: part.target.out_features
        for part in parts
        if part.target.operation == "magnitude"
    }
    if beside.use_dora and lengths.keys() != pairs.keys():
        odd = min(lengths.keys() ^ pairs.keys())
        raise FormatError("PAIR", f"{odd} has only one of its DoRA magnitude and LoRA factors.")
    for target in (part.target for part in parts):
        if target.operation in ("magnitude", "add_bias"):
            _check_length(target, pairs.get(target.module))


def _check_length(target: Target, pair: Pair | None) -> None:
    if pair is None or pair.out_features != target.out_features:
        rows = "no factors" if pair is None else f"{pair.out_features} outputs"
        message = f"{target.module} has {target.out_features} trained values and {rows}."
        raise FormatError("SHAPE", message)
