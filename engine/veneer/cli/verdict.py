"""A verdict on an adapter and a base, as lines to read."""

from collections.abc import Iterator

from veneer.adapters.compat import CompatReport, Fit

_SHOWN = 8
_SURENESS: dict[Fit, str] = {
    "digest": "The adapter declares exactly this base.",
    "named": "The adapter was made for a model of this name.",
    "shape": "Only the shapes fit; confirm it when activating (--confirm-base).",
}


def lines(adapter: str, base: str, report: CompatReport, *, every: bool) -> Iterator[str]:
    """How much applies, how sure it is, and what stands against it: at most a few, or all."""
    refused = "" if report.ok else ", refused"
    yield f"{adapter} on {base}: applies {report.applies} of {report.of} tensors{refused}"
    if report.fit in _SURENESS:
        yield f"  {_SURENESS[report.fit]}"
    for said in (*report.doubts, *report.remarks):
        yield f"  {said}"
    shown = report.problems if every else report.problems[:_SHOWN]
    for problem in shown:
        yield f"  {problem.code}: {problem.message}"
    if len(shown) < len(report.problems):
        yield f"  and {len(report.problems) - len(shown)} more; --all prints them"
