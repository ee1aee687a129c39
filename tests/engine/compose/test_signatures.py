"""Who may vouch for a stack, and what does not run without it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.engine.keyrings import MemoryKeyring, using
from veneer import Workspace
from veneer.compose.signing import public_key, sign
from veneer.errors import KeyringFailed, NotFound, Untrusted

IDS = (19556, 665, 28)
STRANGER = bytes(32)


@pytest.fixture
def keyring() -> Iterator[MemoryKeyring]:
    memory = MemoryKeyring()
    with using(memory):
        yield memory


def require_signatures(workspace: Workspace) -> None:
    workspace.change_settings(msgspec.structs.replace(workspace.settings, require_signature=True))


def sign_as_stranger(workspace: Workspace, stack: str) -> None:
    workspace.stacks.put_signed(sign(workspace.stacks.find(stack).manifest, STRANGER))


def test_only_what_is_signed_runs_and_the_rest_is_refused_by_name(
    workspace: Workspace, keyring: MemoryKeyring
):
    workspace.activate("plain")
    signed = workspace.sign("pirates").value
    require_signatures(workspace)
    assert workspace.activate("pirates").value.composition_id == signed.id
    before = workspace.logits(IDS)
    with pytest.raises(Untrusted, match="“both” is not signed; “veneer sign both”") as caught:
        workspace.activate("both")
    assert caught.value.step == "validate"
    refused = workspace.journal.all()[0]
    assert refused.state == "ABORTED"
    assert (refused.reason or "").startswith("UNTRUSTED at validate: ")
    with pytest.raises(Untrusted, match="“plain”"):
        workspace.rollback()
    with pytest.raises(Untrusted, match="“objects”"):
        workspace.logits(IDS, "objects")
    active = workspace.active()
    assert active is not None
    assert active[1].id == signed.id
    np.testing.assert_array_equal(workspace.logits(IDS), before)
    recovered = workspace.activator.activate(workspace.stacks.find("plain"), "recovery")
    assert recovered.value.changed


def test_a_stranger_s_signature_names_the_key_and_counts_once_it_is_trusted(workspace: Workspace):
    sign_as_stranger(workspace, "pirates")
    require_signatures(workspace)
    stack, key = workspace.stacks.find("pirates"), public_key(STRANGER)
    assert workspace.signatures.standing(stack) == "unknown"
    with pytest.raises(Untrusted, match=f"“pirates” is signed by {key}, which nobody here trusts"):
        workspace.activate("pirates")
    workspace.signatures.trusted.add(key, "Ada")
    workspace.signatures.require(stack)
    workspace.signatures.trusted.remove(key)
    with pytest.raises(Untrusted):
        workspace.signatures.require(stack)
    with pytest.raises(NotFound):
        workspace.signatures.trusted.remove(key)


def test_notes_that_were_changed_after_signing_break_the_signature(
    workspace: Workspace, keyring: MemoryKeyring
):
    signed = workspace.sign("pirates").value
    path = workspace.root / "manifests" / f"{signed.id.removeprefix('sha256:')}.toml"
    path.write_bytes(path.read_bytes().replace(b'name = "pirates"', b'name = "harmless"'))
    require_signatures(workspace)
    with pytest.raises(Untrusted, match="was changed after it was signed"):
        workspace.activate("pirates")
    assert workspace.signatures.standing(workspace.sign("pirates").value) == "trusted"


def test_one_key_for_every_workspace_and_none_in_any_file(
    workspace: Workspace, keyring: MemoryKeyring, tmp_path: Path
):
    workspace.sign("pirates")
    (secret,) = keyring.secrets.values()
    seed = bytes.fromhex(secret)
    assert workspace.signatures.own_key() == public_key(seed)
    with Workspace.open(tmp_path / "other") as other:
        assert other.signatures.own_key() == public_key(seed)
        assert other.signatures.trusted.all() == ()
    (trusted,) = workspace.signatures.trusted.all()
    assert trusted.key == public_key(seed)
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    assert any(path.name == "veneer.db-wal" for path in files)
    for path in files:
        data = path.read_bytes()
        assert seed not in data
        assert secret.encode() not in data


@pytest.mark.parametrize("secret", ["not hexadecimal", "abcd"])
def test_a_keyring_with_something_else_in_it_is_not_overwritten(
    workspace: Workspace, keyring: MemoryKeyring, secret: str
):
    keyring.secrets["veneer", "signing key"] = secret
    before = workspace.stacks.find("pirates")
    with pytest.raises(KeyringFailed, match="is not such a key"):
        workspace.sign("pirates")
    assert keyring.secrets == {("veneer", "signing key"): secret}
    assert workspace.stacks.find("pirates") == before


def test_a_signature_travels_with_a_stack_to_where_it_is_known_already(
    workspace: Workspace, stocked: Path, tmp_path: Path
):
    sign_as_stranger(workspace, "pirates")
    package = tmp_path / "pirates.slm"
    workspace.export("pirates", package)
    shutil.copytree(stocked, tmp_path / "other")
    with Workspace.open(tmp_path / "other") as other:
        assert other.signatures.standing(other.stacks.find("pirates")) == "unsigned"
        other.import_path(package)
        taken = other.stacks.find("pirates").manifest
        assert taken == workspace.stacks.find("pirates").manifest
        other.signatures.trusted.add(public_key(STRANGER), "Ada")
        assert other.signatures.standing(other.stacks.find("pirates")) == "trusted"
        with using(MemoryKeyring()):
            own = other.sign("pirates").value.manifest
        other.import_path(package)
        assert other.stacks.find("pirates").manifest == own
