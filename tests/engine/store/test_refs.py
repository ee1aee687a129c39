import pytest

from veneer.errors import AmbiguousRef, NotFound
from veneer.identity import Digest
from veneer.store.refs import Named, clean_name, free_name, resolve

A = Named("adapter", "pirate", Digest("sha256:abcd" + "0" * 60))
B = Named("adapter", "json", Digest("sha256:abce" + "0" * 60))
S = Named("composition", "pirate", Digest("sha256:ffff" + "0" * 60))
ALL = [A, B, S]


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("json", B),
        ("abcd", A),
        ("sha256:abce", B),
        ("adapter:pirate", A),
        ("composition:pirate", S),
        ("adapter:abcd", A),
    ],
)
def test_a_ref_finds_what_it_means(ref: str, meant: Named):
    assert resolve(ref, ALL) == meant


def test_a_name_of_two_kinds_is_ambiguous_and_says_how_to_choose():
    with pytest.raises(AmbiguousRef, match="adapter:pirate, composition:pirate"):
        resolve("pirate", ALL)


@pytest.mark.parametrize("ref", ["nobody", "abc", "zzzz", "", "base:json"])
def test_what_fits_nothing_is_not_found(ref: str):
    with pytest.raises(NotFound):
        resolve(ref, ALL)


def test_a_prefix_of_two_ids_is_ambiguous():
    other = Named("base", "other", Digest("sha256:abcd1" + "0" * 59))
    with pytest.raises(AmbiguousRef):
        resolve("abcd", [A, other])


def test_one_composition_under_its_name_and_its_id_is_one_thing():
    assert resolve("ffff", [S, Named("composition", None, S.digest)]).digest == S.digest


def test_names_lose_what_could_deceive():
    assert clean_name("nice\u202egnp.\x00exe\n two") == "nicegnp.exe two"
    assert clean_name("\u200b\u0007") == "unnamed"
    assert len(clean_name("x" * 500)) == 80


def test_a_taken_name_gets_a_number():
    assert free_name("a", ["b"]) == "a"
    assert free_name("a", ["a", "a-2"]) == "a-3"
