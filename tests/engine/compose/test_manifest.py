import pytest

from veneer.compose.manifest import (
    AdapterRef,
    BaseRef,
    Envelope,
    Manifest,
    Semantic,
    checked,
    decode,
    encode,
)
from veneer.errors import ManifestError
from veneer.identity import Digest

BASE = BaseRef(
    digests=(Digest("sha256:" + "0" * 64),),
    architecture_id=Digest("sha256:" + "1" * 64),
    tokenizer_id=Digest("sha256:" + "2" * 64),
    quantization="sha256:" + "3" * 64,
)
A, B = Digest("sha256:" + "a" * 64), Digest("sha256:" + "b" * 64)


def manifest(*pairs: tuple[Digest, float], name: str = "") -> Manifest:
    adapters = tuple(AdapterRef(digest=d, scale=s) for d, s in pairs)
    return Manifest(
        composition=checked(Semantic(base=BASE, adapters=adapters)), envelope=Envelope(name=name)
    )


def test_the_id_is_the_hash_of_the_meaning_and_never_drifts():
    # Computed once with sha256sum over the canonical JSON written by hand.
    canonical = (
        '{"adapters":[],"base":{"architecture_id":"sha256:' + "1" * 64
        + '","digests":["sha256:' + "0" * 64 + '"],"quantization":"sha256:' + "3" * 64
        + '","tokenizer_id":"sha256:' + "2" * 64
        + '"},"method":{"name":"sum"},"router":null,"schema":1}'
    )  # fmt: skip
    import hashlib

    assert manifest().id == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def test_names_and_notes_do_not_change_the_id():
    assert manifest((A, 1.0), name="mine").id == manifest((A, 1.0), name="yours").id


@pytest.mark.parametrize("other", [[(A, 1.01)], [(B, 1.0)], [(A, 1.0), (B, 1.0)], [], [(A, -1.0)]])
def test_any_difference_in_meaning_changes_the_id(other: list[tuple[Digest, float]]):
    assert manifest((A, 1.0)).id != manifest(*other).id


def test_order_is_part_of_the_identity():
    assert manifest((A, 1.0), (B, 1.0)).id != manifest((B, 1.0), (A, 1.0)).id


def test_minus_zero_is_zero():
    assert manifest((A, -0.0)).id == manifest((A, 0.0)).id


def test_toml_keeps_everything():
    before = manifest((A, 0.5), (B, -2.0), name="tavern")
    assert decode(encode(before)) == before


@pytest.mark.parametrize(
    ("pairs", "field"),
    [
        ([(A, float("nan"))], r"adapters\[0\]\.scale"),
        ([(A, 1.0), (B, float("inf"))], r"adapters\[1\]\.scale"),
        ([(A, 1.0), (A, 2.0)], r"adapters\[1\] repeats"),
    ],
)
def test_a_bad_composition_names_the_field(pairs: list[tuple[Digest, float]], field: str):
    with pytest.raises(ManifestError, match=field):
        manifest(*pairs)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"scale = 0.5", b'scale = "much"', "scale"),
        (b"scale = 0.5", b"scale = 0.5\nsecret = 1", "secret"),
        (b"schema = 1", b"schema = 2", "schema is 2"),
        (b"[composition", b"[[[", "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_and_says_where(old: bytes, new: bytes, words: str):
    data = encode(manifest((A, 0.5)))
    assert old in data
    with pytest.raises(ManifestError, match=words):
        decode(data.replace(old, new, 1))
