"""Watched folders: a file is handed over when it has come to rest, and once."""

import queue
import shutil
from pathlib import Path

import pytest

from veneer.store.fs import RealFs
from veneer.store.watch import Settling, Signature, Watcher

ENTRY = Path("/watched/adapter")


def test_what_still_changes_waits_until_it_rests():
    states: dict[Path, Signature] = {ENTRY: (("w", "1"),)}
    settling = Settling(quiet=2.0)
    settling.notice(ENTRY)
    assert settling.due(0.0, states.__getitem__) == []
    assert settling.due(1.9, states.__getitem__) == []
    states[ENTRY] = (("w", "2"),)
    assert settling.due(2.5, states.__getitem__) == []
    assert settling.due(4.4, states.__getitem__) == []
    assert settling.due(4.5, states.__getitem__) == [ENTRY]
    assert not settling


def test_the_same_state_is_handed_over_once_and_another_again():
    states: dict[Path, Signature] = {ENTRY: (("w", "1"),)}
    settling = Settling(quiet=1.0)

    def rest(start: float) -> list[Path]:
        settling.notice(ENTRY)
        return [e for at in (start, start + 1.0) for e in settling.due(at, states.__getitem__)]

    assert rest(0.0) == [ENTRY]
    assert rest(10.0) == []
    states[ENTRY] = (("w", "2"),)
    assert rest(20.0) == [ENTRY]


def test_what_went_away_is_forgotten():
    settling = Settling(quiet=1.0)
    settling.notice(ENTRY)
    assert settling.due(0.0, lambda entry: ()) == []
    assert not settling


def test_a_folder_that_is_copied_in_is_found_as_one(tmp_path: Path, adapter_paths: dict[str, Path]):
    found: queue.Queue[Path] = queue.Queue()
    watched = tmp_path / "watched"
    watched.mkdir()
    watcher = Watcher(RealFs(), found.put, quiet=0.3)
    try:
        assert watcher.watch([watched, tmp_path / "nowhere"]) == (watched,)
        shutil.copytree(adapter_paths["pirate"], watched / "pirate")
        assert found.get(timeout=20) == watched / "pirate"
        # Looking at it, as an import does, is no change.
        (watched / "pirate" / "adapter_model.safetensors").read_bytes()
        with pytest.raises(queue.Empty):
            found.get(timeout=0.8)
        watcher.watch([])
        (watched / "late.gguf").write_bytes(b"x")
        with pytest.raises(queue.Empty):
            found.get(timeout=0.8)
    finally:
        watcher.close()
