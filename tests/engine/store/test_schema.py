import json
import sqlite3
from pathlib import Path

from veneer.adapters.model import Target
from veneer.store.catalog import Catalog
from veneer.store.database import Database
from veneer.store.schema import MIGRATIONS

DIGEST = "sha256:" + "a" * 64

# As the second version of the tables held it.
RECORD = {
    "kind": "lora", "source_format": "peft", "base_model": None, "base_revision": None,
    "architecture": None, "dtype": "F32", "weights": 6144,
    "targets": [
        {
            "module": 'a."b".q_proj', "operation": "low_rank", "rank": 8, "in_features": 576,
            "out_features": 192, "scaling": 0.1, "embedding": False, "tokens": [], "count": 6144,
        },
        {"module": "embed_tokens", "operation": "rows", "out_features": 576, "scaling": 1.0,
         "embedding": True, "tokens": [3, 49151]},
    ],
}  # fmt: skip


def test_targets_of_an_older_workspace_are_read_as_they_were(tmp_path: Path):
    path = tmp_path / "db"
    connection = sqlite3.connect(path)
    for statement in (*MIGRATIONS[0], *MIGRATIONS[1]):
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 2")
    connection.execute(
        "INSERT INTO adapters (digest, name, files, size, record, added_at)"
        " VALUES (?, 'old', '{}', 1, ?, '2026-11-01')",
        (DIGEST, json.dumps(RECORD)),
    )
    connection.commit()
    connection.close()
    database = Database(path, writable=True)
    (stored,) = Catalog(database).adapters()
    database.close()
    assert stored.adapter.targets == (
        Target(
            module='a."b".q_proj',
            rank=8,
            in_features=576,
            out_features=192,
            scaling=0.1,
            count=6144,
        ),
        Target(
            module="embed_tokens",
            operation="rows",
            out_features=576,
            embedding=True,
            tokens=(3, 49151),
        ),
    )
