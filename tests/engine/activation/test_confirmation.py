"""An adapter of which only the shapes fit: asked about once, written down, never asked again."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from veneer import Workspace
from veneer.activation.journal import Pair
from veneer.errors import ConfirmBase, NotFound
from veneer.store.schema import MIGRATIONS

IDS = (19556, 665, 28)


@pytest.fixture
def asked(workspace: Workspace, stranger: Path) -> Workspace:
    """With “stranger” in the library and alone in a stack."""
    workspace.import_path(stranger)
    workspace.compose("smol", [("stranger", 1.0)], name="strange")
    return workspace


def pair_of(workspace: Workspace) -> Pair:
    return Pair(
        workspace.library.find_adapter("stranger").digest,
        workspace.library.find_base("smol").digest,
    )


def test_without_a_confirmation_nothing_is_begun(asked: Workspace):
    asked.activate("plain")
    before = asked.logits(IDS)
    with pytest.raises(ConfirmBase) as caught:
        asked.activate("strange")
    assert caught.value.code == "CONFIRM_BASE"
    assert caught.value.doubts == (
        "Only the shapes of “stranger” fit “smol”: It was made for “somebody/another-model”; "
        "this base is “Smollm2 135M 8k Lc100K Mix1 Ep2”.",
    )
    assert str(caught.value).startswith(caught.value.doubts[0])
    assert str(caught.value).endswith("confirm it: in the window, or with --confirm-base.")
    assert [g.number for g in asked.journal.all()] == [1]
    np.testing.assert_array_equal(asked.logits(IDS), before)


def test_a_confirmation_is_in_the_journal_and_holds_for_the_pair(asked: Workspace):
    number = asked.activate("strange", by="cli", confirm_base=True).value.generation
    kept = asked.journal.get(number)
    assert (kept.confirmed, kept.requested_by) == ((pair_of(asked),), "cli")
    assert kept.transitions[0].state == "REQUESTED"
    asked.compose("smol", [("stranger", 0.5), ("terse", 1.0)], name="mixed")
    later = asked.activate("mixed").value.generation
    assert asked.journal.get(later).confirmed == ()


def test_restarting_and_rolling_back_do_not_ask_again(root: Path, stranger: Path):
    with Workspace.open(root) as workspace:
        workspace.import_path(stranger)
        workspace.compose("smol", [("stranger", 1.0)], name="strange")
        workspace.activate("strange", confirm_base=True)
        workspace.activate("plain")
    with Workspace.open(root) as again:
        assert again.rollback().value.generation == 3
        assert again.logits(IDS).size == 49152
        again.activate("plain")
        again.activate("strange")


def test_a_generation_that_was_active_can_be_restored_whatever_is_thought_of_it_now(
    asked: Workspace,
):
    """As with one from before there were confirmations, or under a stricter verdict."""
    number = asked.journal.request(asked.stacks.find("strange").id, "api")
    asked.journal.commit(number, {})
    asked.activate("plain")
    assert asked.rollback().value.composition_id == asked.stacks.find("strange").id
    assert not asked.journal.is_confirmed(pair_of(asked))


def test_a_confirmation_outlives_the_activation_it_was_given_for(asked: Workspace):
    number = asked.journal.request(
        asked.stacks.find("strange").id, "window", confirmed=[pair_of(asked)]
    )
    asked.journal.abort(number, "CANCELLED: Stopped.")
    assert asked.journal.get(number).confirmed == (pair_of(asked),)
    asked.activate("strange")


def test_what_needs_no_confirmation_is_not_written_as_confirmed(asked: Workspace):
    number = asked.activate("pirates", confirm_base=True).value.generation
    assert asked.journal.get(number).confirmed == ()


def test_looking_apart_needs_the_confirmation_too_and_keeps_none(asked: Workspace):
    asked.activate("plain")
    with pytest.raises(ConfirmBase):
        asked.logits(IDS, "strange")
    apart = asked.logits(IDS, "strange", confirm_base=True)
    assert np.abs(apart - asked.logits(IDS)).max() > 0.1
    assert asked.tokenize("Hello", "strange")
    assert not asked.journal.is_confirmed(pair_of(asked))


FIELDS = (
    "module", "operation", "rank", "in_features", "out_features", "scaling", "embedding",
    "tokens", "count",
)  # fmt: skip


def as_the_first_version_had_it(path: Path) -> None:
    """Give a database the tables it had then, with the rows that it has now."""
    new = path.with_name("new.db")
    path.rename(new)
    with closing(sqlite3.connect(path)) as old:
        for statement in MIGRATIONS[0]:
            old.execute(statement)
        old.execute("ATTACH ? AS new", (str(new),))
        for (table,) in old.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall():
            columns = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
            old.execute(f"INSERT INTO main.{table} SELECT {columns} FROM new.{table}")
        old.execute("PRAGMA user_version = 1")
        old.commit()
    new.unlink()


def test_a_workspace_from_before_there_were_confirmations_is_brought_up(root: Path):
    as_the_first_version_had_it(root / "veneer.db")
    with sqlite3.connect(root / "veneer.db") as database:
        ((record,),) = database.execute("SELECT record FROM bases").fetchall()
        older = json.loads(record)
        for later in ("origin", "groups", "tokenizer", "key_length", "value_length"):
            del older[later]
        database.execute("UPDATE bases SET record = ?", (json.dumps(older),))
        for name, record in database.execute("SELECT name, record FROM adapters").fetchall():
            older = json.loads(record)
            older["targets"] = [dict(zip(FIELDS, t, strict=False)) for t in older["targets"]]
            database.execute(
                "UPDATE adapters SET record = ? WHERE name = ?", (json.dumps(older), name)
            )
    with Workspace.open(root) as workspace:
        assert workspace.check("pirate", "smol").applies == 60
        assert workspace.activate("pirates", confirm_base=True).value.changed
        assert workspace.logits(IDS).size == 49152


def test_what_is_missing_is_said_before_what_is_doubtful(asked: Workspace):
    asked.stacks.forget("strange")
    composition = asked.compose("smol", [("stranger", 1.0)]).value.id
    asked.library.forget_adapter(pair_of(asked).adapter)
    asked.gc(grace=timedelta())
    with pytest.raises(NotFound, match="is not in this workspace"):
        asked.activate(composition)
    assert asked.journal.all()[0].state == "ABORTED"
