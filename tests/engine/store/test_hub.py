"""Importing from a hub: what is asked of it, what is refused, and what stays of a failure."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.hubs import COMMIT, Hub, serving
from tests.engine.keyrings import LockedKeyring, MemoryKeyring, using
from veneer import Workspace
from veneer.errors import Cancelled, FormatError, HubFailed, PickleRefused
from veneer.store import hub as hubs
from veneer.store.hub import HubRef, parse
from veneer.tasks import CancelToken


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, adapter_paths: dict[str, Path]) -> Iterator[Hub]:
    pirate = {p.name: p.read_bytes() for p in adapter_paths["pirate"].iterdir() if p.is_file()}
    json = {f"step-9/{p.name}": p.read_bytes() for p in adapter_paths["json"].iterdir()}
    mixed = json | {f"a/{name}": data for name, data in pirate.items()}
    stock = Hub({"crew/pirate": pirate, "crew/many": mixed})
    with serving(stock), using(MemoryKeyring()):
        monkeypatch.setenv("VENEER_HUB", stock.address)
        yield stock


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.open(tmp_path / "ws") as workspace:
        yield workspace


def nothing_stays(workspace: Workspace) -> None:
    assert workspace.library.adapters() == ()
    assert list((workspace.root / "tmp").iterdir()) == []
    assert [p for p in (workspace.root / "objects").rglob("*") if p.is_file()] == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("hf:crew/pirate", HubRef("crew/pirate")),
        ("hf:crew/pirate.v2-x@refs", HubRef("crew/pirate.v2-x", "refs")),
        ("hf:crew/pirate@main/a/b", HubRef("crew/pirate", "main", "a/b")),
        ("https://huggingface.co/crew/pirate", HubRef("crew/pirate")),
        ("https:/huggingface.co/crew/pirate/", HubRef("crew/pirate")),
        ("https://huggingface.co/crew/pirate/tree/main/a?x=1", HubRef("crew/pirate", "main", "a")),
        ("https://hf.co/crew/pirate/blob/v1/x.gguf", HubRef("crew/pirate", "v1", "x.gguf")),
        ("/home/hf:crew/pirate", None),
        ("hf:pirate", None),
        ("https://example.org/crew/pirate", None),
        ("pirate.gguf", None),
    ],
)  # fmt: skip
def test_what_names_a_repository(said: str, meant: HubRef | None):
    assert parse(said) == meant
    assert parse(Path(said)) == meant


def test_an_adapter_is_the_same_as_from_a_folder(
    hub: Hub, empty: Workspace, adapter_paths: dict[str, Path]
):
    steps: list[tuple[int, int]] = []
    done = empty.import_path(Path("hf:crew/pirate"), progress=lambda d, t: steps.append((d, t)))
    assert (done.value.kind, done.value.name) == ("adapter", "pirate")
    assert empty.import_path(adapter_paths["pirate"]).value.id == done.value.id
    assert empty.library.adapter(done.value.id).source == f"hf:crew/pirate@{COMMIT}"
    assert steps[-1][0] == steps[-1][1] > 900_000
    assert {told for _, told in hub.seen} == {None}


def test_the_folder_that_is_named_is_taken(hub: Hub, empty: Workspace):
    with pytest.raises(FormatError, match="There are 2 adapters in hf:crew/many: hf:crew/many/"):
        empty.import_path(Path("hf:crew/many"))
    nothing_stays(empty)
    page = "https://huggingface.co/crew/many/blob/main/step-9/adapter_model.safetensors"
    assert empty.import_path(Path(page)).value.name == "step-9"


def test_the_token_of_the_keyring_opens_what_is_private(
    hub: Hub, empty: Workspace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_TOKEN", hub.token)
    hub.private.add("crew/pirate")
    with pytest.raises(HubFailed, match="crew/pirate is not on the hub, or it is private"):
        empty.import_path(Path("hf:crew/pirate"))
    nothing_stays(empty)
    hubs.keep_token(f" {hub.token}\n")
    assert empty.import_path(Path("hf:crew/pirate")).value.name == "pirate"
    hubs.keep_token("")
    assert not hubs.has_token()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda hub: hub.repos.pop("crew/pirate"), "is not on the hub"),
        (lambda hub: hub.gated.add("crew/pirate"), "asks for permission"),
        (lambda hub: setattr(hub, "spoiled", True), "did not arrive as the hub announced it"),
        (lambda hub: setattr(hub, "cut", True), "the hub does not answer"),
    ],
    ids=["unknown", "gated", "spoiled", "cut short"],
)
def test_of_what_fails_nothing_stays(hub: Hub, empty: Workspace, harm, words: str):
    harm(hub)
    with pytest.raises(HubFailed, match=words):
        empty.import_path(Path("hf:crew/pirate"))
    nothing_stays(empty)


def test_a_hub_that_is_not_there(empty: Workspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VENEER_HUB", "http://127.0.0.1:9")
    with using(MemoryKeyring()), pytest.raises(HubFailed, match="the hub does not answer"):
        empty.import_path(Path("hf:crew/pirate"))
    nothing_stays(empty)


def test_stopped_on_the_way(hub: Hub, empty: Workspace):
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        empty.import_path(
            Path("hf:crew/pirate"), progress=lambda done, total: cancel.cancel(), cancel=cancel
        )
    nothing_stays(empty)


def test_pickles_and_whole_models_are_refused_by_name(hub: Hub, empty: Workspace):
    hub.repos["crew/pickled"] = {"adapter_config.json": b"{}", "adapter_model.bin": b"x"}
    hub.repos["crew/base"] = {"config.json": b"{}"}
    hub.repos["crew/gguf"] = {"pirate.gguf": b"GGUF"}
    with pytest.raises(PickleRefused):
        empty.import_path(Path("hf:crew/pickled"))
    with pytest.raises(FormatError, match="There is no adapter in hf:crew/base"):
        empty.import_path(Path("hf:crew/base"))
    with pytest.raises(FormatError, match=r"pirate\.gguf is a GGUF file, which is not fetched"):
        empty.import_path(Path("hf:crew/gguf"))
    assert not any("resolve" in asked for asked, _ in hub.seen)
    nothing_stays(empty)


def test_without_a_keyring_what_is_private_is_not_had_and_what_is_public_is(
    hub: Hub, empty: Workspace
):
    hub.private.add("crew/pirate")
    with using(LockedKeyring()):
        words = (
            r"needs the token of somebody who may see it\. The system's keyring could not be read"
        )
        with pytest.raises(HubFailed, match=words):
            empty.import_path(Path("hf:crew/pirate"))
        nothing_stays(empty)
        hub.private.clear()
        assert empty.import_path(Path("hf:crew/pirate")).value.name == "pirate"
