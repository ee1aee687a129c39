from pathlib import Path

from veneer.identity import Digest
from veneer.runtime.kvcache import KvCache
from veneer.runtime.kvfolder import KvFolder
from veneer.runtime.sequences import Snapshot, continues
from veneer.store.fs import RealFs

X, Y = Digest("sha256:x"), Digest("sha256:y")


def test_only_a_whole_proper_prefix_is_continued():
    assert continues((1, 2), (1, 2, 3))
    assert not continues((1, 2), (1, 2))
    assert not continues((1, 9), (1, 2, 3))
    assert not continues((), (1,))


def test_the_longest_fitting_sequence_is_found():
    cache = KvCache(1000)
    cache.keep(X, Snapshot((1,), b"a"))
    cache.keep(X, Snapshot((1, 2), b"b"))
    cache.keep(X, Snapshot((1, 3), b"c"))
    assert cache.longest_prefix(X, (1, 2, 4)) == Snapshot((1, 2), b"b")
    assert cache.longest_prefix(X, (5,)) is None


def test_nothing_is_found_under_another_execution_id():
    cache = KvCache(1000)
    cache.keep(X, Snapshot((1, 2), b"a"))
    assert cache.longest_prefix(Y, (1, 2, 3)) is None
    assert not cache.holds(Y, (1, 2))


def test_the_budget_holds_and_the_longest_unused_goes_first():
    cache = KvCache(10)
    cache.keep(X, Snapshot((1,), b"aaaa"))
    cache.keep(X, Snapshot((2,), b"bbbb"))
    assert cache.longest_prefix(X, (1, 5)) is not None
    cache.keep(X, Snapshot((3,), b"cccc"))
    assert cache.bytes == 8
    assert cache.holds(X, (1,))
    assert not cache.holds(X, (2,))


def test_keeping_again_does_not_count_twice():
    cache = KvCache(10)
    cache.keep(X, Snapshot((1,), b"aaaa"))
    cache.keep(X, Snapshot((1,), b"bb"))
    assert cache.bytes == 2


def test_a_smaller_budget_holds_at_once():
    cache = KvCache(100)
    cache.keep(X, Snapshot((1,), b"aaaa"))
    cache.keep(X, Snapshot((2,), b"bbbb"))
    cache.resize(5, None)
    assert cache.bytes == 4
    assert cache.holds(X, (2,))
    cache.resize(-1, None)
    assert cache.bytes == 0


def test_what_is_dropped_is_found_again_in_the_folder(tmp_path: Path):
    cache = KvCache(5)
    cache.resize(5, KvFolder(RealFs(), tmp_path, 10_000))
    cache.keep(X, Snapshot((1, 2), b"aaaa"))
    cache.keep(Y, Snapshot((1, 2), b"bbbb"))
    assert not cache.holds(X, (1, 2))
    assert cache.longest_prefix(X, (1, 2, 3)) == Snapshot((1, 2), b"aaaa")
    cache.close()
    assert KvCache(5).longest_prefix(Y, (1, 2, 3)) is None
    fresh = KvCache(5)
    fresh.resize(5, KvFolder(RealFs(), tmp_path, 10_000))
    assert fresh.longest_prefix(Y, (1, 2, 3)) == Snapshot((1, 2), b"bbbb")
