"""Two stored factors as one low-rank part, in one orientation whatever the format.

A is always (rank, in) and B always (out, rank); a format that stores one of them the other way
round says so with `flipped`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from veneer.adapters.contents import Door, Factors, Matrix, Part, Stored
from veneer.adapters.model import Target
from veneer.errors import FormatError, UnsupportedAdapter

RANK_MAX = 4_096


@dataclass(frozen=True)
class Pair:
    """The two factors of one module. A flipped A is stored as (in, rank), a flipped B likewise.

    Those of a stack of experts have one more axis before, and are never flipped.
    """

    module: str
    a: Stored
    b: Stored
    embedding: bool = False
    a_flipped: bool = False
    b_flipped: bool = False

    @property
    def rank(self) -> int:
        """The columns of B."""
        return self.b.shape[-2 if self.b_flipped else -1]

    @property
    def in_features(self) -> int:
        """The columns of A."""
        return self.a.shape[-2 if self.a_flipped else -1]

    @property
    def out_features(self) -> int:
        """The rows of B."""
        return self.b.shape[-1 if self.b_flipped else -2]

    @property
    def experts(self) -> int:
        """How many matrices are stacked; 0 for one that is alone."""
        return self.a.shape[0] if len(self.a.shape) == 3 else 0


def low_rank(pair: Pair, scaling: float, read: Callable[[str], Matrix]) -> Part:
    """The part that a checked pair makes with this scaling."""
    target = Target(
        module=pair.module,
        rank=pair.rank,
        in_features=pair.in_features,
        out_features=pair.out_features,
        scaling=scaling,
        embedding=pair.embedding,
        count=pair.rank * (pair.in_features + pair.out_features) * max(pair.experts, 1),
        experts=pair.experts,
    )
    return Part(
        target,
        product_of=(pair.a.name, pair.b.name),
        factors=Factors(_door(pair.a, pair.a_flipped, read), _door(pair.b, pair.b_flipped, read)),
    )


def checked(pair: Pair, *, stacks: bool = False, together: bool = False) -> Pair:
    """The same pair, of a stack of experts only where the format has such. Where the ranks of
    many experts are `together` in a matrix, they may be more than it has sides.

    Raises `FormatError` SHAPE or DTYPE, `UnsupportedAdapter` for experts elsewhere.
    """
    for stored in (pair.a, pair.b):
        _check_factor(stored, stacks)
    if pair.a.shape[:-2] != pair.b.shape[:-2]:
        raise FormatError("SHAPE", f"{pair.module} has factors for different numbers of experts.")
    _check_rank(pair, together)
    return pair


def check_floats(stored: Stored) -> None:
    """Raises `FormatError` DTYPE for anything but floats of 16 bits and more."""
    if stored.dtype not in ("F32", "F16", "BF16", "F64"):
        raise FormatError("DTYPE", f"{stored.name} is stored as {stored.dtype}, not as floats.")


def _door(stored: Stored, flipped: bool, read: Callable[[str], Matrix]) -> Door:
    return (lambda: read(stored.name).T) if flipped else (lambda: read(stored.name))


def _check_factor(stored: Stored, stacks: bool) -> None:
    if len(stored.shape) == 1 or len(stored.shape) > 3:
        raise FormatError("SHAPE", f"{stored.name} is not a matrix: {list(stored.shape)}.")
    if len(stored.shape) == 3 and not stacks:
        raise UnsupportedAdapter(f"{stored.name} adapts a stack of experts, which is not possible.")
    check_floats(stored)


def _check_rank(pair: Pair, together: bool) -> None:
    rank_of_a = pair.a.shape[-1 if pair.a_flipped else -2]
    if rank_of_a != pair.rank:
        message = f"{pair.module}: factor A has rank {rank_of_a}, factor B has rank {pair.rank}."
        raise FormatError("SHAPE", message)
    # More than the smaller side is wasteful but happens (rank 256 on the 192 rows of a small
    # model's keys); more than the larger side is not a LoRA.
    most = min(max(pair.in_features, pair.out_features), RANK_MAX)
    if pair.rank < 1 or (pair.rank > most and not together):
        raise FormatError("SHAPE", f"{pair.module} claims the rank {pair.rank}.")
