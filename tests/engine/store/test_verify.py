import os
from pathlib import Path

import pytest

from veneer.errors import Damaged
from veneer.identity import sha256_bytes
from veneer.store.database import Database
from veneer.store.fs import RealFs
from veneer.store.verify import Verifier

DATA = b"bytes that matter"
DIGEST = sha256_bytes(DATA)


class CountingFs(RealFs):
    def __init__(self) -> None:
        self.opened = 0

    def open_read(self, path: Path):
        self.opened += 1
        return super().open_read(path)


@pytest.fixture
def made(tmp_path: Path):
    database = Database(tmp_path / "db", writable=True)
    fs, path = CountingFs(), tmp_path / "file"
    path.write_bytes(DATA)
    yield Verifier(fs, database), fs, path
    database.close()


def test_an_unchanged_file_is_hashed_once(made):
    verifier, fs, path = made
    verifier.verify(path, DIGEST, "It")
    verifier.verify(path, DIGEST, "It")
    assert fs.opened == 1
    verifier.verify(path, DIGEST, "It", thorough=True)
    assert fs.opened == 2


def test_a_changed_file_is_found_out(made):
    verifier, _, path = made
    verifier.verify(path, DIGEST, "It")
    path.write_bytes(DATA.replace(b"m", b"n"))
    with pytest.raises(Damaged, match="The base has changed on disk"):
        verifier.verify(path, DIGEST, "The base")


def test_touching_a_file_costs_a_hash_and_no_more(made):
    verifier, fs, path = made
    verifier.verify(path, DIGEST, "It")
    os.utime(path, ns=(5, 5))
    verifier.verify(path, DIGEST, "It")
    assert fs.opened == 2


def test_a_missing_file_is_named(made):
    verifier, _, path = made
    path.unlink()
    with pytest.raises(Damaged, match="The base is missing"):
        verifier.verify(path, DIGEST, "The base")
    assert not verifier.untouched(path)
