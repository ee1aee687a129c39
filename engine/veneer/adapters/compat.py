"""Does this adapter belong on this base, and if not, why not?

Every target is looked up in the base and both its sides are compared. One target that does not
fit refuses the adapter: most of an adapter is another adapter. A verdict is for people first, so
a wrong model is said once, in one sentence, before the tensors that show it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from veneer.adapters.base import Base
from veneer.adapters.model import Adapter
from veneer.adapters.placement import Problem, ProblemCode, lookup, place_all, sides
from veneer.formats import naming

Fit = Literal["named", "shape", "no"]
"""Why it fits: the adapter declares this base by name; by its shapes alone; not at all."""


class CompatReport(Struct, frozen=True, kw_only=True):
    """The verdict: `applies` of the adapter's `of` targets fit; `ok` only if all of them do."""

    ok: bool
    applies: int
    of: int
    problems: tuple[Problem, ...]
    fit: Fit


def check(adapter: Adapter, base: Base) -> CompatReport:
    """The verdict on `adapter` over `base`. Raises nothing: a refusal is a report."""
    total = len(adapter.targets)
    wrong = _wrong_architecture(adapter, base)
    if wrong is not None:
        return CompatReport(ok=False, applies=0, of=total, problems=(wrong,), fit="no")
    placed, problems = place_all(adapter, base)
    if problems:
        reasons = (*_other_model(adapter, base), *_grouped(problems))
        return CompatReport(ok=False, applies=len(placed), of=total, problems=reasons, fit="no")
    fit = "named" if _is_declared(adapter.base_model, base.known_as) else "shape"
    return CompatReport(ok=True, applies=total, of=total, problems=(), fit=fit)


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


def _grouped(problems: Iterable[Problem]) -> Iterator[Problem]:
    """One problem of each code: the first, with the number of the others."""
    problems = tuple(problems)
    counts: Counter[ProblemCode] = Counter(problem.code for problem in problems)
    for code, count in counts.items():
        first = next(problem for problem in problems if problem.code == code)
        others = f" (and {count - 1} more like this)" if count > 1 else ""
        yield Problem(code=code, message=f"{first.message}{others}.", tensor=first.tensor)


def _other_model(adapter: Adapter, base: Base) -> Iterator[Problem]:
    """Say it in one sentence if the adapter's layers or width are those of another model."""
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
    for target in adapter.targets:
        place = lookup(adapter, base, target)
        if place is not None:
            layers = max(layers, (naming.layer_of(place.blocks[0]) or 0) + 1)
            side = naming.width_side(place.blocks[0])
            if side is not None:
                widths[sides(target)[side]] += 1
    return layers, widths.most_common(1)[0][0] if widths else None


def _is_declared(declared: str | None, known_as: tuple[str, ...]) -> bool:
    """Whether a declared name (often a hub id or a path) and one of the base's say the same."""
    if declared is None:
        return False
    words = _words(re.split(r"[/\\]", declared)[-1])
    names = [_words(name) for name in known_as]
    return any(len(name & words) > 1 and (name <= words or words <= name) for name in names)


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9.]+", name.lower()))
