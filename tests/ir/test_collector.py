"""The garbage collector after programs were built: as it was, and still finding the user's garbage."""

from __future__ import annotations

import gc
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
    assert not gc.isenabled()
    return [[i] for i in range(count)]


@without_collector
def fail() -> None:
    raise ValueError("no")


class Node:
    """Garbage that only the collector finds."""

    def __init__(self):
        self.me = self


def test_it_is_as_it_was_after_success_and_after_an_error():
    build(3)
    assert gc.isenabled()
    with pytest.raises(ValueError):
        fail()
    assert gc.isenabled()
    gc.disable()
    try:
        build(3)
        assert not gc.isenabled()
    finally:
        gc.enable()


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
