"""What the stock lane does not execute: whether it would fit the base at all, and why it waits."""

from collections.abc import Mapping
from typing import Final

from veneer.adapters.base import Base
from veneer.adapters.extent import extent, lookup, sides, size
from veneer.adapters.model import Adapter, Operation, Target
from veneer.adapters.problem import Problem, problem

_NOT_EXECUTED: Final[Mapping[Operation, str]] = {
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


def why_waiting(adapter: Adapter, base: Base, target: Target) -> Problem:
    """Why this target cannot run now: it does not fit, or it fits and nothing executes it yet."""
    waits = f"{_NOT_EXECUTED[target.operation]}, which needs the overlay lane"
    return _misfit(adapter, base, target) or problem("NEEDS_OVERLAY", target, waits)


def _misfit(adapter: Adapter, base: Base, target: Target) -> Problem | None:
    match target.operation:
        case "rows":
            return _strange_tokens(base, target) or _width(target, base.n_embd)
        case "prompt":
            return _width(target, base.n_embd)
        case "prefix":
            return _width(target, base.kv_per_token)
        case "direction":
            return _no_layer(base, target) or _width(target, base.n_embd)
        case _:
            return _module(adapter, base, target)


def _strange_tokens(base: Base, target: Target) -> Problem | None:
    most = max(target.tokens, default=0)
    if most < base.n_vocab:
        return None
    what = f"has retrained token {most}, and this base has only {base.n_vocab}"
    return problem("VOCABULARY", target, what)


def _no_layer(base: Base, target: Target) -> Problem | None:
    if int(target.module.rpartition(".")[2]) < base.n_layers:
        return None
    return problem("SHAPE", target, f"is beyond the {base.n_layers} layers of this base")


def _width(target: Target, wanted: int) -> Problem | None:
    if target.out_features == wanted:
        return None
    what = f"is {target.out_features} wide, and this base needs {wanted}"
    return problem("SHAPE", target, what)


def _module(adapter: Adapter, base: Base, target: Target) -> Problem | None:
    """Compares the sides that the operation has with those of the weight it names."""
    place = lookup(adapter, base, target)
    if place is None:
        # Norms and what else has no LoRA are in no table; they are looked at when they can run.
        if target.operation in ("bias", "replace"):
            return None
        what = "is not a weight that can be adapted in this architecture"
        return problem("UNKNOWN_MODULE", target, what)
    found = extent(place, target, base)
    if isinstance(found, Problem):
        # A tied head is no tensor of its own.
        return None if base.tied_embeddings else found
    pairs = zip(sides(target), found.sides, strict=True)
    if all(given in (0, here) for given, here in pairs):
        return None
    what = f"is {size(sides(target))} in the adapter and {size(found.sides)} in this base"
    return problem("SHAPE", target, what)
