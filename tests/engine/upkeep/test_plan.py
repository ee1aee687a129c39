"""What may go, as a question about values: nothing is opened here."""

from datetime import UTC, datetime, timedelta

from veneer.identity import Digest
from veneer.upkeep.plan import Item, Plan, Roots, plan

NOW = datetime(2026, 12, 3, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
GRACE = 14 * DAY
GONE = Digest("sha256:" + "a" * 64)


def items(*paths: str) -> list[Item]:
    return [Item(path=path, size=1000) for path in paths]


def roots(*needed: str, **fields: object) -> Roots:
    given = {"removed": {}, "needed_removed": frozenset(), **fields}
    return Roots(needed=frozenset(needed), **given)  # type: ignore[arg-type]


def paths(found: tuple[Item, ...]) -> list[str]:
    return [item.path for item in found]


def test_what_is_seen_for_the_first_time_is_marked_and_stays():
    made = plan(roots("a"), items("a", "b"), {}, NOW, GRACE)
    assert (paths(made.kept), paths(made.marked), paths(made.swept)) == (["a"], ["b"], [])
    assert [(w.item.path, w.until) for w in made.waiting] == [("b", NOW + GRACE)]


def test_it_goes_when_its_grace_has_passed_and_not_before():
    since = {"early": NOW - GRACE, "late": NOW - GRACE + timedelta(seconds=1)}
    made = plan(roots(), items("early", "late"), since, NOW, GRACE)
    assert paths(made.swept) == ["early"]
    assert [w.item.path for w in made.waiting] == ["late"]
    assert made.marked == ()


def test_what_is_needed_again_or_gone_is_spared():
    made = plan(roots("a"), items("a"), {"a": NOW - 99 * DAY, "b": NOW - DAY}, NOW, GRACE)
    assert made.spared == ("a", "b")
    assert made.swept == ()


def test_without_grace_it_goes_at_once():
    made = plan(roots(), items("b"), {}, NOW, timedelta())
    assert (paths(made.marked), paths(made.swept), made.waiting) == (["b"], ["b"], ())


def test_an_unreadable_root_keeps_everything_even_what_has_waited_long():
    blocked = roots(unreadable=("The manifest of “x” is damaged.",))
    made = plan(blocked, items("b"), {"b": NOW - 99 * DAY}, NOW, GRACE)
    assert made == Plan(blocked=("The manifest of “x” is damaged.",))


def test_what_was_brought_in_again_waits_from_when_it_was_removed_again():
    removed = {GONE: (frozenset({"b"}), NOW - DAY)}
    made = plan(roots(removed=removed), items("b"), {"b": NOW - 99 * DAY}, NOW, GRACE)
    assert [w.until for w in made.waiting] == [NOW - DAY + GRACE]
    assert made.dropped == ()


def test_a_record_is_dropped_with_its_first_file():
    removed = {GONE: (frozenset({"b", "shared"}), NOW - 20 * DAY)}
    made = plan(
        roots("shared", removed=removed), items("b", "shared"), {"b": NOW - 20 * DAY}, NOW, GRACE
    )
    assert (paths(made.swept), made.dropped) == (["b"], (GONE,))


def test_a_record_without_files_here_is_dropped_after_the_grace():
    for age, dropped in ((13 * DAY, ()), (14 * DAY, (GONE,))):
        removed = {GONE: (frozenset[str](), NOW - age)}
        assert plan(roots(removed=removed), (), {}, NOW, GRACE).dropped == dropped


def test_a_record_that_a_generation_needs_stays():
    removed = {GONE: (frozenset({"b"}), NOW - 99 * DAY)}
    needed = roots("b", removed=removed, needed_removed=frozenset({GONE}))
    assert plan(needed, items("b"), {}, NOW, GRACE).dropped == ()


def test_a_plan_is_printed():
    since = {"objects/b": NOW - 20 * DAY}
    made = plan(roots("objects/a"), items("objects/a", "objects/b", "derived/c"), since, NOW, GRACE)
    assert list(made.lines()) == [
        "needed: 1 files, 1.0 kB",
        "not needed, and to go later: 1 files, 1.0 kB",
        "  derived/c  1.0 kB, after 2026-12-17 12:00 UTC",
        "to go now: 1 files, 1.0 kB",
        "  objects/b  1.0 kB",
    ]
    assert list(Plan(blocked=("Why.",)).lines()) == [
        "Nothing is removed, since it cannot be told what is needed:",
        "  Why.",
    ]
