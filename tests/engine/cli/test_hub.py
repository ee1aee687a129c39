"""`veneer hub-token`, and importing from a hub on the command line."""

import io
import json
from pathlib import Path

import pytest

from tests.engine.cli.support import ask, veneer
from tests.engine.hubs import COMMIT, Hub, serving
from tests.engine.keyrings import LockedKeyring, MemoryKeyring, using


def test_a_token_is_kept_used_and_forgotten(
    tmp_path: Path, adapter_paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    files = {p.name: p.read_bytes() for p in adapter_paths["pirate"].iterdir() if p.is_file()}
    with serving(Hub({"crew/pirate": files}, {"crew/pirate"})) as hub, using(MemoryKeyring()):
        monkeypatch.setenv("VENEER_HUB", hub.address)
        assert ask(tmp_path, "hub-token") == {"kept": False}
        refused = veneer(tmp_path, "import", "hf:crew/pirate", code=1)
        assert refused.stderr.startswith("error[HUB]: crew/pirate is not on the hub, or it is pri")
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{hub.token}\n"))
        kept = veneer(tmp_path, "hub-token", "--keep")
        assert kept.stdout == "A token is in the keyring.\n"
        assert hub.token not in kept.stdout + kept.stderr
        assert ask(tmp_path, "import", f"hf:crew/pirate@{COMMIT}")["name"] == "pirate"
        assert json.loads(veneer(tmp_path, "hub-token", "--forget", "--json").stdout) == {
            "kept": False
        }
    everywhere = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"hf_secret" not in everywhere


def test_a_locked_keyring_is_one_line(tmp_path: Path):
    with using(LockedKeyring()):
        said = veneer(tmp_path, "hub-token", code=1).stderr
    assert said.startswith("error[KEYRING]: The system's keyring could not be read from")
