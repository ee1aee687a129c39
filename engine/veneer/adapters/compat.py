"""Does this adapter belong on this base, and if not, why not?

Every target is looked up in the base and both its sides are compared. One target that does not
fit refuses the adapter: most of an adapter is another adapter. A verdict is for people first, so
a wrong model is said once, in one sentence, before the tensors that show it.

That everything fits does not make it the right base: models of one family and size have the same
shapes. So a verdict also says how sure it is, and whatever stands against being surer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from veneer.adapters.base import Base
from veneer.adapters.declared import name_doubt, revision_doubt
from veneer.adapters.extent import lookup, sides
from veneer.adapters.model import Adapter
from veneer.adapters.placed import Placed
from veneer.adapters.placement import place_all
from veneer.adapters.problem import Problem, problem
from veneer.formats import naming
from veneer.identity import Digest, short

Fit = Literal["digest", "named", "shape", "no"]
"""How sure it is: the adapter declares this very file; a model of this name; its shapes alone
fit, which a person must confirm; it does not fit."""


class CompatReport(Struct, frozen=True, kw_only=True):
    """The verdict: `applies` of the adapter's `of` targets fit; `ok` only if all of them do.

    `problems` has one entry for each target that does not fit. `doubts` are the sentences that
    stand against a surer `fit` than "shape". `beyond_stock` has one entry for each thing that fits
    and that llama.cpp's own adapters cannot do, so that the overlay lane must.
    """

    ok: bool
    applies: int
    of: int
    problems: tuple[Problem, ...]
    fit: Fit
    doubts: tuple[str, ...] = ()
    beyond_stock: tuple[Problem, ...] = ()


def check(adapter: Adapter, base: Base, digest: Digest | None = None) -> CompatReport:
    """The verdict on `adapter` over `base`, whose file has this digest.

    Raises nothing: a refusal is a report.
    """
    total = len(adapter.targets)
    wrong = _wrong_architecture(adapter, base)
    if wrong is not None:
        return CompatReport(ok=False, applies=0, of=total, problems=(wrong,), fit="no")
    placed, problems = place_all(adapter, base)
    applies = total - len(problems)
    beyond = tuple(_beyond_stock(placed))
    reasons = (
        *_other_model(adapter, base, problems),
        *_vocabulary(adapter, base),
        *_activated(adapter),
    )
    reasons += tuple(msgspec.structs.replace(p, message=f"{p.message}.") for p in problems)
    if reasons:
        return CompatReport(
            ok=False, applies=applies, of=total, problems=reasons, fit="no", beyond_stock=beyond
        )
    fit, doubts = _sureness(adapter, base, digest)
    return CompatReport(
        ok=True,
        applies=total,
        of=total,
        problems=(),
        fit=fit,
        doubts=doubts,
        beyond_stock=beyond,
    )


def _beyond_stock(placed: Iterable[Placed]) -> Iterator[Problem]:
    for target, what in {p.target: p.beyond_stock for p in placed if p.beyond_stock}.items():
        yield problem("NEEDS_OVERLAY", target, f"{what}, which needs the overlay lane.")


def _sureness(
    adapter: Adapter, base: Base, digest: Digest | None
) -> tuple[Literal["digest", "named", "shape"], tuple[str, ...]]:
    if adapter.base_digest is not None and adapter.base_digest == digest:
        return "digest", ()
    doubts = tuple(_doubts(adapter, base))
    return ("shape" if doubts else "named"), doubts


def _doubts(adapter: Adapter, base: Base) -> Iterator[str]:
    if adapter.base_digest is not None:
        yield f"It declares another file as its base ({short(adapter.base_digest, 12)})."
    name = name_doubt(adapter.base_model, base)
    if name is not None:
        yield name
    revision = revision_doubt(adapter.base_revision, base)
    if revision is not None:
        yield revision
    if adapter.vocabulary not in (None, base.n_vocab):
        yield f"It was trained with {adapter.vocabulary} tokens; this base has {base.n_vocab}."


def _vocabulary(adapter: Adapter, base: Base) -> Iterator[Problem]:
    if (adapter.vocabulary or 0) > base.n_vocab:
        yield Problem(
            code="VOCABULARY",
            message=f"It was trained with {adapter.vocabulary} tokens, and this base has only "
            f"{base.n_vocab}.",
        )


def _activated(adapter: Adapter) -> Iterator[Problem]:
    if adapter.invocation_tokens:
        yield Problem(
            code="NOT_EXECUTED",
            message="It is an activated LoRA (aLoRA): it must act from its invocation tokens on "
            "and not before, which no lane executes yet.",
        )


def _wrong_architecture(adapter: Adapter, base: Base) -> Problem | None:
    if adapter.architecture not in (None, base.architecture):
        return Problem(
            code="ARCHITECTURE",
            message=f"Made for another architecture: the adapter is for {adapter.architecture}, "
            f"this base is {base.architecture}.",
        )
    if not naming.supported(base.architecture):
        return Problem(
            code="UNSUPPORTED_ARCHITECTURE",
            message=f"Adapters on bases of the architecture {base.architecture} are not "
            "supported yet.",
        )
    return None


def _other_model(adapter: Adapter, base: Base, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Say it in one sentence if the adapter's layers or width are those of another model."""
    if not problems:
        return
    layers, width = _adapter_size(adapter, base)
    if layers > base.n_layers or width not in (None, base.n_embd):
        wide = f" of width {width}" if width else ""
        yield Problem(
            code="OTHER_MODEL",
            message=f"Made for another model: the adapter targets {layers} layers{wide}, "
            f"this base has {base.n_layers} of width {base.n_embd}.",
        )


def _adapter_size(adapter: Adapter, base: Base) -> tuple[int, int | None]:
    """The number of layers an adapter reaches, and the width of the model it was made for."""
    layers, widths = 0, Counter[int]()
    for target in (target for target in adapter.targets if target.operation == "low_rank"):
        place = lookup(adapter, base, target)
        if place is not None:
            layers = max(layers, (naming.layer_of(place.blocks[0]) or 0) + 1)
            side = naming.width_side(place.blocks[0])
            if side is not None:
                widths[sides(target)[side]] += 1
    return layers, widths.most_common(1)[0][0] if widths else None
