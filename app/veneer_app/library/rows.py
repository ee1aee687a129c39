"""Bases and adapters as rows of one table, and the verdict on an adapter in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from veneer.adapters.compat import CompatReport
from veneer.compose.plan import ContextSettings
from veneer.identity import Digest
from veneer.store.records import StoredAdapter, StoredBase
from veneer_app import text
from veneer_app.parts.table import Column
from veneer_app.reads import LibraryNow

translate = text.translate
_REASONS = 3
FITS = 6
"""The column that says how they fit."""
# As the papers write them; other kinds are words.
_KINDS = {
    "loha": "LoHa",
    "lokr": "LoKr",
    "lora": "LoRA",
    "dora": "DoRA",
    "alora": "aLoRA",
    "ia3": "IA³",
    "vera": "VeRA",
}


@dataclass(frozen=True)
class LibraryRow:
    """One base or adapter. `report` is about the chosen base; bases have none, and adapters none
    before they are judged.

    `context` is the one whose memory is shown for a base, `users` are the stacks that need it,
    and `words` is what a search looks through.
    """

    kind: Literal["base", "adapter"]
    digest: Digest
    name: str
    rank: str
    targets: int
    size: int
    made_for: str
    stored: StoredBase | StoredAdapter
    report: CompatReport | None = None
    context: ContextSettings = field(default_factory=ContextSettings)
    users: tuple[str, ...] = ()
    words: str = ""

    @property
    def kind_key(self) -> str:
        """ "base", or the kind of adapter."""
        return self.stored.adapter.kind if isinstance(self.stored, StoredAdapter) else "base"

    @property
    def fit(self) -> Literal["", "fits", "unsure", "refused"]:
        """How it fits the chosen base; "" for a base, and where it is not known yet."""
        if self.report is None:
            return ""
        if not self.report.ok:
            return "refused"
        return "unsure" if self.report.fit == "shape" else "fits"


def rows(
    now: LibraryNow, reports: Mapping[Digest, CompatReport] | None = None
) -> tuple[LibraryRow, ...]:
    """Bases first, then adapters, with what is known of how they fit."""
    known = reports or {}
    bases = (_base(b, now.context, now.users.get(b.digest, ())) for b in now.bases)
    adapters = (_adapter(a, known.get(a.digest), now.users.get(a.digest, ())) for a in now.adapters)
    return (*bases, *adapters)


def _base(stored: StoredBase, context: ContextSettings, users: tuple[str, ...]) -> LibraryRow:
    return LibraryRow(
        kind="base",
        digest=stored.digest,
        name=text.plain(stored.name, 80),
        rank="",
        targets=len(stored.base.tensors),
        size=stored.base.bytes,
        made_for="",
        stored=stored,
        context=context,
        users=users,
        words=f"{stored.name} base {stored.base.name or ''} {stored.base.architecture}".casefold(),
    )


def _adapter(
    stored: StoredAdapter, report: CompatReport | None, users: tuple[str, ...]
) -> LibraryRow:
    ranks = stored.adapter.ranks
    told = (stored.name, stored.adapter.kind, *stored.tags, stored.trigger_text, stored.notes)
    made_for = text.plain(stored.adapter.base_model or stored.adapter.architecture, 80)
    return LibraryRow(
        kind="adapter",
        digest=stored.digest,
        name=text.plain(stored.name, 80),
        rank=str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]}-{ranks[-1]}" if ranks else "",
        targets=len(stored.adapter.targets),
        size=stored.size,
        made_for=made_for,
        stored=stored,
        report=report,
        users=users,
        words=" ".join((*told, made_for)).casefold(),
    )


def kind_word(kind: str) -> str:
    """A kind of adapter as people write it."""
    return _KINDS.get(kind, kind.replace("_", " "))


def kind_of(row: LibraryRow) -> str:
    """What it is, in a word."""
    if isinstance(row.stored, StoredAdapter):
        return kind_word(row.stored.adapter.kind)
    return translate("Library", "Base")


def fit_of(row: LibraryRow) -> str:
    """How much of it applies, that nothing but its shapes fits, or that it is refused."""
    if row.report is None:
        return ""
    if row.fit != "fits":
        words = {
            "refused": translate("Library", "Refused"),
            "unsure": translate("Library", "Unsure"),
        }
        return words[row.fit]
    return translate("Library", "{n} of {of}").format(n=row.report.applies, of=row.report.of)


def verdict(report: CompatReport) -> str:
    """The verdict in a sentence."""
    applies = translate("Library", "Applies {n} of {of} tensors").format(
        n=report.applies, of=report.of
    )
    if report.ok:
        doubts = " ".join(text.plain(doubt, 300) for doubt in report.doubts)
        return " ".join((f"{applies}.", doubts or _sureness(report), *report.remarks))
    reasons = " ".join(text.plain(p.message, 300) for p in report.problems[:_REASONS])
    more = len(report.problems) - _REASONS
    if more > 0:
        reasons += translate("Library", " And {n} more.").format(n=more)
    return translate("Library", "Refused ({applies}). {reasons}").format(
        applies=applies.lower(), reasons=reasons
    )


def _sureness(report: CompatReport) -> str:
    if report.fit == "digest":
        return translate("Library", "Made for exactly this base.")
    return translate("Library", "Made for a model of this name.")


def tone_of(report: CompatReport | None) -> str:
    """Good, bad, or neither where it must be confirmed."""
    if report is None or report.fit == "shape":
        return "text"
    return "good" if report.ok else "bad"


def columns() -> tuple[Column, ...]:
    """The columns of the table."""
    return (
        Column(translate("Library", "Name"), lambda r: r.name),
        Column(translate("Library", "Kind"), kind_of, tone=lambda r: "muted"),
        Column(translate("Library", "Rank"), lambda r: r.rank, tone=lambda r: "muted"),
        Column(
            translate("Library", "Tensors"),
            lambda r: str(r.targets),
            lambda r: r.targets,
            lambda r: "muted",
            right=True,
        ),
        Column(
            translate("Library", "Size"),
            lambda r: text.size(r.size),
            lambda r: r.size,
            lambda r: "muted",
            right=True,
        ),
        Column(translate("Library", "Made for"), lambda r: r.made_for, tone=lambda r: "muted"),
        Column(translate("Library", "Fits"), fit_of, tone=lambda r: tone_of(r.report)),
    )
