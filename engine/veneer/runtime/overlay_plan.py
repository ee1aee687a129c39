"""From overlay forms and strengths to one native plan.

A form is loaded once, however many plans use it. A plan sums, for each place, over its adapters k
with their strengths s (see `adapters.overlay_form` for the words):

    y' = (1 + Σ s·gain) ∘ y + Σ m∘(s·scaling·B(A x)) + Σ s·S x + Σ s·bias

where m is 1, or for DoRA its gain at s, of which 1 also goes into the first sum. Everything is
added to the base as it is, as if each adapter were alone on it. A whole weight V in its place is
gain -1 and S = V, whatever its strength.

`post` comes last, over all of it: P = 1 + Σ s·post. The weight that takes those outputs as its
inputs computes with P∘x; what other adapters add to it is meant for x, so their A is divided by P.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from veneer._overlay import DenseRows, Edit, LowRank, Plan, SparseRows
from veneer.adapters.dora import GAINS_TYPE
from veneer.adapters.overlay_file import OverlayFile, PlaceSlots
from veneer.adapters.overlay_form import FORM_TYPE
from veneer.adapters.placed import Role
from veneer.errors import Incompatible
from veneer.store.fs import RealFs

if TYPE_CHECKING:
    from veneer._overlay import Role as NativeRole

Vector = NDArray[np.float32]
Key = tuple[str, Role]
Gain = float | Vector

_ONE: Final = np.float32(1)
_ROLES: Final[Mapping[Role, "NativeRole"]] = {
    "product": "mul_mat",
    "embed": "get_rows",
    "norm": "mul",
    "layer": "node",
}


@dataclass(frozen=True)
class LoadedPlace:
    """What one adapter does in one place, ready for the native runtime. `dora`: at a gain that
    depends on the strength."""

    low_rank: LowRank | None
    scaling: float
    sparse: SparseRows | None
    replace: NDArray[Any] | None
    gain: Vector | None
    post: Vector | None
    bias: Vector | None
    dora: bool


class LoadedForm:
    """An adapter's overlay form in memory. Raises `FormatError`, `StoreError`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[Key, LoadedPlace] = {}
        with RealFs().open_read(path) as file:
            for place in OverlayFile(file, FORM_TYPE).places():
                self.places[place.tensor, place.role] = _loaded(place)

    @property
    def bytes(self) -> int:
        """What its factors take in memory."""
        return sum(map(_bytes_of, self.places.values()))

    def divided(self, key: Key, by: Vector) -> LowRank:
        """The low-rank product of a place for inputs that were multiplied by `by`."""
        with RealFs().open_read(self.path) as file:
            places = OverlayFile(file, FORM_TYPE).places()
            place = next(place for place in places if (place.tensor, place.role) == key)
            return LowRank(place.wide("a") / by, place.stored("b"))


def read_gains(path: Path) -> Mapping[Key, Vector]:
    """What DoRA multiplies rows by, by place. Raises as `LoadedForm`."""
    with RealFs().open_read(path) as file:
        places = OverlayFile(file, GAINS_TYPE).places()
        return {(place.tensor, place.role): place.wide("gain") for place in places}


@dataclass(frozen=True)
class Layer:
    """A loaded adapter at a strength, with its DoRA gains at it."""

    form: LoadedForm
    strength: float
    gains: Mapping[Key, Vector]


def plan_of(layers: Sequence[Layer]) -> Plan | None:
    """The plan of these layers; None where there are none.

    Raises `Incompatible` where adapters cannot be added up exactly.
    """
    sums: dict[Key, _Sum] = {}
    for layer in layers:
        for key, place in layer.form.places.items():
            sums.setdefault(key, _Sum(key)).add(layer, place)
    for key, whole in list(sums.items()):
        if whole.post is not None:
            _correct_inputs(sums, key, whole.post)
    return Plan([whole.edit() for whole in sums.values()]) if sums else None


def _correct_inputs(sums: Mapping[Key, "_Sum"], up: Key, post: Vector) -> None:
    tensor, role = up
    down = sums.get((tensor.replace("ffn_up", "ffn_down"), role))
    if down is not None:
        down.take_inputs(_ONE + post)


@dataclass
class _Sum:
    """Everything that is done in one place, as it adds up."""

    key: Key
    low_rank: list[tuple[LowRank, Gain]] = field(default_factory=list[tuple[LowRank, Gain]])
    products: list[LoadedForm] = field(default_factory=list[LoadedForm])
    sparse: list[tuple[SparseRows, float]] = field(default_factory=list[tuple[SparseRows, float]])
    replaced: list[tuple[NDArray[Any], float]] = field(
        default_factory=list[tuple[NDArray[Any], float]]
    )
    gain: Vector | None = None
    post: Vector | None = None
    bias: Vector | None = None

    def add(self, layer: Layer, place: LoadedPlace) -> None:
        """Add what a layer does here."""
        strength = np.float32(layer.strength)
        if place.low_rank is not None:
            gain: Gain = float(strength * np.float32(place.scaling))
            if place.dora:
                rows = layer.gains[self.key]
                gain, self.gain = rows * np.float32(gain), _plus(self.gain, rows - _ONE)
            self.low_rank.append((place.low_rank, gain))
            self.products.append(layer.form)
        if place.sparse is not None:
            self.sparse.append((place.sparse, layer.strength))
        if place.replace is not None:
            self.replaced.append((place.replace, layer.strength))
        self.gain = _plus(self.gain, place.gain, strength)
        self.post = _plus(self.post, place.post, strength)
        self.bias = _plus(self.bias, place.bias, strength)

    def take_inputs(self, factor: Vector) -> None:
        """Be right although the inputs are multiplied by the last entries of `factor`."""
        mixed = self.gain is not None or self.post is not None or self.sparse or self.replaced
        inputs = [factor[-product.n_in :] for product, _ in self.low_rank]
        if mixed or not all(each.all() for each in inputs):
            raise Incompatible(
                f"One adapter scales the inputs of {self.key[0]} (IA³) and another changes that "
                "weight in a way that cannot be combined with it exactly. Leave one of the two out."
            )
        self.low_rank = [
            (form.divided(self.key, each), gain)
            for form, each, (_, gain) in zip(self.products, inputs, self.low_rank, strict=True)
        ]

    def edit(self) -> Edit:
        """The sum as the native runtime wants it."""
        tensor, role = self.key
        whole = self._alone()
        gain, sparse = self.gain, [*self.sparse]
        for values, strength in () if whole is not None else self.replaced:
            gain = _plus(gain, np.full(self._n_out(values), -strength, np.float32))
            sparse.append((_rows_of(values), strength))
        scale = None if gain is None else _ONE + gain
        post = None if self.post is None else _ONE + self.post
        return Edit(
            _ROLES[role],
            tensor,
            low_rank=[(product, _times(gain, post)) for product, gain in self.low_rank],
            sparse=[(rows, _times(strength, post)) for rows, strength in sparse],
            replace=whole,
            scale=post if scale is None else _product(scale, post),
            bias=None if self.bias is None else _product(self.bias, post),
        )

    def _alone(self) -> DenseRows | None:
        """The one weight that stands in for the base's, if nothing else is made of the base's."""
        if self.gain is not None or len(self.replaced) != 1 or self.replaced[0][1] != 1:
            return None
        values = self.replaced[0][0]
        return DenseRows(values, None, values.shape[0])

    def _n_out(self, values: NDArray[Any]) -> int:
        return values.shape[1] if self.key[1] == "embed" else values.shape[0]


def _plus(total: Vector | None, more: Vector | None, times: np.float32 = _ONE) -> Vector | None:
    if more is None:
        return total
    return more * times if total is None else total + more * times


def _times(gain: Gain, post: Vector | None) -> Gain:
    return gain if post is None else post * np.float32(gain)


def _product(vector: Vector, post: Vector | None) -> Vector:
    return vector if post is None else vector * post


def _rows_of(values: NDArray[Any]) -> SparseRows:
    """A whole matrix as sparse rows, so that it can be added at any strength."""
    rows, columns = values.shape
    starts = np.arange(0, values.size + 1, columns, dtype=np.int64)
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    return SparseRows(starts, indices, values.reshape(-1), columns)


def _bytes_of(place: LoadedPlace) -> int:
    natives = (place.low_rank, place.sparse)
    arrays = (place.replace, place.gain, place.post, place.bias)
    return sum(native.nbytes for native in natives if native is not None) + sum(
        array.nbytes for array in arrays if array is not None
    )


def _loaded(place: PlaceSlots) -> LoadedPlace:
    def vector(slot: str) -> Vector | None:
        return place.wide(slot) if slot in place.slots else None

    scaling = vector("scaling")
    product = None if scaling is None else LowRank(place.stored("a"), place.stored("b"))
    return LoadedPlace(
        low_rank=product,
        scaling=1.0 if scaling is None else float(scaling[0]),
        sparse=_sparse(place) if "starts" in place.slots else None,
        replace=place.stored("replace") if "replace" in place.slots else None,
        gain=vector("gain"),
        post=vector("post"),
        bias=vector("bias"),
        dora="magnitude" in place.slots,
    )


def _sparse(place: PlaceSlots) -> SparseRows:
    (columns,) = place.stored("width")
    entries = place.stored("columns"), place.wide("values")
    return SparseRows(place.stored("starts"), *entries, int(columns))
