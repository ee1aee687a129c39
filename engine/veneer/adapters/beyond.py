"""Where the operations go that llama.cpp's own adapters do not have, or why they have no place.

Most act on the rows of a weight, as a low-rank product does. Retrained tokens of a tied embedding
act in both its roles. A scale of a feed-forward's inputs is one of the outputs that become them.
"""

from collections.abc import Mapping
from typing import Final

from veneer.adapters.base import Base
from veneer.adapters.extent import Extent, Piece, embeds, extent, lookup, sides, size
from veneer.adapters.model import Adapter, Operation, Target
from veneer.adapters.placed import Placed, Role
from veneer.adapters.problem import Problem, problem
from veneer.formats import naming
from veneer.formats.rows import row_order

BEYOND_STOCK: Final[Mapping[Operation, str]] = {
    "magnitude": "has a DoRA magnitude",
    "scale_outputs": "scales its outputs (IA³)",
    "scale_inputs": "scales its inputs (IA³)",
    "bias": "has a trained bias in place of the base's",
    "add_bias": "has a trained bias beside its LoRA",
    "replace": "is replaced whole",
    "rows": "has retrained tokens",
    "sparse": "is changed in single weights",
    "direction": "is pushed in a direction",
    "prompt": "is a trained prompt",
    "prefix": "is a trained prefix",
}
"""In words that follow a module's name."""

Found = tuple[Placed, ...] | Problem


def place_beyond(adapter: Adapter, base: Base, target: Target) -> Found:
    """The places of a target that is no low-rank product."""
    match target.operation:
        case "prompt":
            return _width(target, base.n_embd) or _not_executed(target)
        case "prefix":
            return _width(target, base.kv_per_token) or _not_executed(target)
        case "direction":
            return _direction(base, target)
        case "rows":
            return _rows(adapter, base, target)
        case "scale_inputs":
            return _inputs(adapter, base, target)
        case _:
            return _module(adapter, base, target)


def _not_executed(target: Target) -> Problem:
    what = f"{BEYOND_STOCK[target.operation]}, which no lane executes yet"
    return problem("NOT_EXECUTED", target, what)


def _placed(target: Target, pieces: tuple[Piece, ...], role: Role) -> Placed:
    return Placed(target, "same", pieces, role, BEYOND_STOCK[target.operation])


def _direction(base: Base, target: Target) -> Found:
    layer = int(target.module.rpartition(".")[2])
    if layer >= base.n_layers:
        return problem("SHAPE", target, f"is beyond the {base.n_layers} layers of this base")
    piece = Piece(f"l_out-{layer}", 0, 0, base.n_embd)
    return _width(target, base.n_embd) or (_placed(target, (piece,), "layer"),)


def _rows(adapter: Adapter, base: Base, target: Target) -> Found:
    place = lookup(adapter, base, target)
    if place is None or place.blocks[0] not in (naming.TOKEN_EMBEDDING, naming.OUTPUT_HEAD):
        return problem("UNKNOWN_MODULE", target, "has no tokens in this architecture")
    wrong = _strange_tokens(base, target) or _width(target, base.n_embd)
    if wrong is not None:
        return wrong
    roles: tuple[Role, ...] = ("embed",) if embeds(place) else ("product",)
    if embeds(place) and base.tied_embeddings and not _has_rows_of_the_head(adapter, base):
        # PEFT retrains the tokens of both ends where they share their weight.
        roles = ("embed", "product")
    apart = not embeds(place) and not base.tied_embeddings
    tensor = naming.OUTPUT_HEAD if apart else naming.TOKEN_EMBEDDING
    piece = Piece(tensor, 0, 0, base.n_vocab)
    return tuple(_placed(target, (piece,), role) for role in roles)


def _has_rows_of_the_head(adapter: Adapter, base: Base) -> bool:
    rows = [target for target in adapter.targets if target.operation == "rows"]
    places = [lookup(adapter, base, target) for target in rows]
    return any(place is not None and not embeds(place) for place in places)


def _strange_tokens(base: Base, target: Target) -> Problem | None:
    most = max(target.tokens, default=0)
    if most < base.n_vocab:
        return None
    what = f"has retrained token {most}, and this base has only {base.n_vocab}"
    return problem("VOCABULARY", target, what)


def _width(target: Target, wanted: int) -> Problem | None:
    if target.out_features == wanted:
        return None
    what = f"is {target.out_features} wide, and this base needs {wanted}"
    return problem("SHAPE", target, what)


def _inputs(adapter: Adapter, base: Base, target: Target) -> Found:
    """Of a gated feed-forward's last weight: what is scaled are the rows of the one before.

    Elsewhere the inputs pass through something that is not linear, or are shared.
    """
    found = _fitted(adapter, base, target)
    if isinstance(found, Problem):
        return found
    up = _up_of(base, found[1].pieces[0].tensor)
    if up is None or found[1].pieces[0].expert is not None:
        what = "scales inputs (IA³) that are no gated outputs, which no lane executes yet"
        return problem("NOT_EXECUTED", target, what)
    return (_placed(target, (Piece(*up, 0, target.in_features),), "product"),)


def _up_of(base: Base, down: str) -> tuple[str, int] | None:
    """The tensor and first row of the outputs that are gated before `down` takes them."""
    inside, _, role = down.rpartition("ffn_down")
    gate, up = f"{inside}ffn_gate.weight", f"{inside}ffn_up.weight"
    if role != ".weight" or up not in base.tensors:
        return None
    if gate in base.tensors:
        return up, 0
    # Where gate and up are one tensor, it has twice the rows that go on.
    wide, rows = base.tensors[down][0], base.tensors[up][1]
    return (up, wide) if rows == 2 * wide else None


def _module(adapter: Adapter, base: Base, target: Target) -> Found:
    if target.operation in ("bias", "replace"):
        norm = _norm(adapter, base, target)
        if norm is not None:
            return norm
    found = _fitted(adapter, base, target)
    if isinstance(found, Problem):
        return found
    place, whole = found
    if any(piece.expert is not None for piece in whole.pieces):
        what = f"{BEYOND_STOCK[target.operation]} and is an expert, which no lane executes yet"
        return problem("NOT_EXECUTED", target, what)
    if target.operation == "bias":
        for piece in whole.pieces:
            if bias_of(piece.tensor) not in base.tensors:
                return problem("MISSING_TENSOR", target, "has a bias, and in this base it has none")
    role: Role = "embed" if embeds(place) else "product"
    if target.operation == "replace" and not _is_whole(base, whole, role):
        what = "is replaced whole, but in this base it is part of a tensor, which no lane executes"
        return problem("NOT_EXECUTED", target, what)
    return (Placed(target, place.rows, whole.pieces, role, BEYOND_STOCK[target.operation]),)


def _is_whole(base: Base, found: Extent, role: Role) -> bool:
    piece, *more = found.pieces
    return not more and piece.size == base.tensors[piece.tensor][0 if role == "embed" else 1]


def _norm(adapter: Adapter, base: Base, target: Target) -> Found | None:
    tensor = naming.norm_of(base.architecture, target.module)
    if adapter.source_format == "gguf" or tensor is None:
        return None
    wanted = bias_of(tensor) if target.operation == "bias" else tensor
    if wanted not in base.tensors:
        return problem("MISSING_TENSOR", target, f"has no {wanted} in this base")
    (width,) = base.tensors[wanted]
    wrong = _width(target, width)
    return wrong or (_placed(target, (Piece(tensor, 0, 0, width),), "norm"),)


def bias_of(tensor: str) -> str:
    """The name that the bias beside a weight has."""
    return f"{tensor.removesuffix('.weight')}.bias"


def _fitted(adapter: Adapter, base: Base, target: Target) -> tuple[naming.Place, Extent] | Problem:
    """Compares the sides that the operation has with those of the weight it names."""
    place = lookup(adapter, base, target)
    if place is None:
        what = "is not a weight that can be adapted in this architecture"
        return problem("UNKNOWN_MODULE", target, what)
    found = extent(place, target, base)
    if isinstance(found, Problem):
        return found
    pairs = zip(_sides(target, place), found.sides, strict=True)
    ordered = row_order(place.rows, found.sides[1], base.heads) is not None
    if all(given in (0, here) for given, here in pairs) and ordered and found.pieces:
        return place, found
    what = f"is {size(sides(target))} in the adapter and {size(found.sides)} in this base"
    return problem("SHAPE", target, what)


def _sides(target: Target, place: naming.Place) -> tuple[int, int]:
    """An embedding that is stored whole has a row for each token."""
    inputs, outputs = sides(target)
    turned = embeds(place) and target.operation in ("replace", "sparse")
    return (outputs, inputs) if turned else (inputs, outputs)
