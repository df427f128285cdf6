"""The garbage collector after programs were built: as it was, and still finding the user's garbage."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from glax.ir import collector
from glax.ir.collector import without_collector


@pytest.fixture
def few(monkeypatch):
    """Limits that a small test reaches."""
    monkeypatch.setattr(collector, "MANY", 100)
    monkeypatch.setattr(collector, "MANY_OLD", 1000)
    oldest = collector.OldestGeneration()
    monkeypatch.setattr(collector, "_oldest", oldest)
    return oldest


@without_collector
def build(count: int) -> list:
    assert gc.get_threshold()[0] == 0 or not gc.isenabled()
    return [[i] for i in range(count)]


@without_collector
def fail() -> None:
    raise ValueError("no")


class Node:
    """Garbage that only the collector finds."""

    def __init__(self):
        self.me = self


def test_it_is_as_it_was_after_success_and_after_an_error():
    before = gc.get_threshold()
    build(3)
    assert gc.isenabled() and gc.get_threshold() == before
    with pytest.raises(ValueError):
        fail()
    assert gc.isenabled() and gc.get_threshold() == before


def test_what_the_user_says_meanwhile_holds():
    before = gc.get_threshold()
    try:
        without_collector(gc.disable)()
        assert not gc.isenabled() and gc.get_threshold() == before
        build(3)
        assert not gc.isenabled()
        without_collector(gc.enable)()
        assert gc.isenabled()
        without_collector(lambda: gc.set_threshold(123, 4, 5))()
        assert gc.get_threshold()[:2] == (123, 4)
        gc.set_threshold(0)
        build(3)
        assert gc.get_threshold()[0] == 0
    finally:
        gc.enable()
        gc.set_threshold(*before)


def test_threads_that_pause_it_together_leave_it_as_it_was():
    before = gc.get_threshold()
    threads = [threading.Thread(target=lambda: [build(30) for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled() and gc.get_threshold() == before


def generation(item: object) -> int:
    return next(i for i in range(3) if any(x is item for x in gc.get_objects(i)))


def test_a_large_result_is_old_at_once_and_a_small_one_is_not(few):
    few.room = 1_000_000
    large, small = build(900), build(3)
    assert generation(large) == generation(large[0]) == 2
    assert generation(small) < 2
    assert few.joined >= 900


def test_garbage_that_became_old_is_collected_all_the_same(few):
    gone, kept = [], []
    for i in range(8):
        node = Node()
        weakref.finalize(node, gone.append, i)
        del node
        kept.append(build(200))
    assert {0, 1, 2, 3} <= set(gone)


def test_full_collections_become_rarer_as_more_is_alive(few):
    kept = [build(200) for _ in range(8)]
    assert len(kept) < 1000 < few.room <= 4 * len(gc.get_objects()) + 1000


def test_frozen_objects_stay_frozen(few):
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        build(900)
        assert few.joined == 0 and gc.get_freeze_count() == pytest.approx(frozen, abs=50)
    finally:
        gc.unfreeze()
