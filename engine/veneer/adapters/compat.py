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
from veneer.adapters.model import Adapter, Target
from veneer.adapters.placed import Placed
from veneer.adapters.placement import place_all
from veneer.adapters.problem import Problem, problem
from veneer.errors import Incompatible
from veneer.formats import chat_template, naming
from veneer.formats.tokenizer import is_another
from veneer.identity import Digest, short

Fit = Literal["digest", "named", "shape", "no"]
"""How sure it is: the adapter declares this very file; a model of this name; its shapes alone
fit, which a person must confirm; it does not fit."""


class CompatReport(Struct, frozen=True, kw_only=True):
    """The verdict: `applies` of the adapter's `of` targets fit; `ok` only if all of them do.

    `problems` has one entry for each target that does not fit. `doubts` are the sentences that
    stand against a surer `fit` than "shape"; `remarks` are good to know and stand against nothing.
    `beyond_stock` has one entry for each thing that fits and that llama.cpp's own adapters cannot
    do, so that the overlay lane must.
    """

    ok: bool
    applies: int
    of: int
    problems: tuple[Problem, ...]
    fit: Fit
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    beyond_stock: tuple[Problem, ...] = ()


def check(
    adapter: Adapter, base: Base, digest: Digest | None = None, unlike: Iterable[Problem] = ()
) -> CompatReport:
    """The verdict on `adapter` over `base`, whose file has this digest.

    `unlike` is what its witnesses have against the base. Raises nothing: a refusal is a report.
    """
    return _judged(adapter, base, digest, unlike)[0]


def placements(adapter: Adapter, base: Base) -> tuple[Placed, ...]:
    """Where each target goes, in the order of the GGUF tensor names.

    Raises `Incompatible` if `check` refuses.
    """
    report, placed = _judged(adapter, base)
    if not report.ok:
        raise Incompatible(" ".join(problem.message for problem in report.problems[:3]))
    return tuple(sorted(placed, key=lambda item: (item.pieces[0].tensor, item.pieces[0].start)))


def _judged(
    adapter: Adapter, base: Base, digest: Digest | None = None, unlike: Iterable[Problem] = ()
) -> tuple[CompatReport, Sequence[Placed]]:
    total = len(adapter.targets)
    wrong = _wrong_architecture(adapter, base)
    if wrong is not None:
        return _refused((wrong,), 0, total), ()
    placed, problems = place_all(adapter, base)
    reasons = (
        *_other_model(adapter, base, problems),
        *_tokenizer(adapter, base),
        *_activated(adapter),
        *unlike,
    )
    reasons += tuple(msgspec.structs.replace(p, message=f"{p.message}.") for p in problems)
    if reasons:
        return _refused(reasons, total - len(problems), total), placed
    fit, doubts = _sureness(adapter, base, digest)
    report = CompatReport(
        ok=True,
        applies=total,
        of=total,
        problems=(),
        fit=fit,
        doubts=doubts,
        remarks=tuple(_remarks(adapter, base)),
        beyond_stock=tuple(_beyond_stock(placed)),
    )
    return report, placed


def _refused(reasons: tuple[Problem, ...], applies: int, total: int) -> CompatReport:
    return CompatReport(ok=False, applies=applies, of=total, problems=reasons, fit="no")


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
    # A base may have more: rows that no token uses, for the sake of a rounder number.
    if (adapter.vocabulary or 0) > base.n_vocab:
        yield f"Its tokenizer has {adapter.vocabulary} tokens; this base has {base.n_vocab}."


def _remarks(adapter: Adapter, base: Base) -> Iterator[str]:
    trained = adapter.chat_template
    if trained is None:
        return
    if base.chat_template is None:
        yield "It came with a chat template; this base has none, so ChatML is used instead."
    elif chat_template.is_another(trained, base.chat_template):
        yield (
            "It came with another chat template than this base has. The base's is used, so it may "
            "be asked in another form than it was trained on."
        )


def _tokenizer(adapter: Adapter, base: Base) -> Iterator[Problem]:
    if is_another(adapter.tokens, base.tokens):
        yield Problem(
            code="TOKENIZER",
            message="Made for another tokenizer: the one that came with it has other tokens than "
            "this base's.",
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
        reach = f"targets {layers} layers{wide}" if layers else f"is{wide}"
        yield Problem(
            code="OTHER_MODEL",
            message=f"Made for another model: the adapter {reach}, this base has {base.n_layers} "
            f"layers of width {base.n_embd}.",
        )


def _adapter_size(adapter: Adapter, base: Base) -> tuple[int, int | None]:
    """The number of layers an adapter reaches, and the width of the model it was made for."""
    layers, widths = 0, Counter[int]()
    for target in adapter.targets:
        layer, width = _layer_and_width(adapter, base, target)
        layers = max(layers, layer + 1)
        widths.update([width] if width else [])
    return layers, widths.most_common(1)[0][0] if widths else None


def _layer_and_width(adapter: Adapter, base: Base, target: Target) -> tuple[int, int]:
    """The layer that a target is in, or -1, and the width of the model where it tells, or 0."""
    match target.operation:
        case "direction":
            return int(target.module.rpartition(".")[2]), target.out_features
        case "prompt" | "rows":
            return -1, target.out_features
        case "prefix":
            return -1, 0
        case _:
            place = lookup(adapter, base, target)
    if place is None:
        return -1, 0
    side, layer = naming.width_side(place.blocks[0]), naming.layer_of(place.blocks[0])
    return -1 if layer is None else layer, 0 if side is None else sides(target)[side]
