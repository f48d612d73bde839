"""Those who wait for a partition are told once, and in any order of offsets."""

import pytest

from riverlog.log.errors import StorageFailed
from riverlog.log.waiting import Waiting

FAILURE = StorageFailed("the disk failed")


async def test_a_future_is_done_when_its_offset_is_reached() -> None:
    waiting = Waiting()
    early, late = waiting.until(5), waiting.until(9)
    waiting.reached(5)
    assert early.done()
    assert not late.done()
    waiting.reached(20)
    await late


async def test_offsets_need_not_come_in_order() -> None:
    waiting = Waiting()
    late, early = waiting.until(9), waiting.until(5)
    waiting.reached(6)
    assert early.done()
    assert not late.done()


async def test_a_failure_is_told_to_all() -> None:
    waiting = Waiting()
    futures = [waiting.until(5), waiting.until(9)]
    waiting.failed(FAILURE)
    for future in futures:
        with pytest.raises(StorageFailed):
            await future


async def test_one_who_has_gone_away_is_not_missed() -> None:
    waiting = Waiting()
    waiting.until(5).cancel()
    waiting.until(5).cancel()
    waiting.reached(5)
    waiting.failed(FAILURE)


def test_everyone_is_told_once() -> None:
    waiting = Waiting()
    told: list[Exception | None] = []
    waiting.tell(5, told.append)
    waiting.reached(5)
    waiting.reached(9)
    waiting.failed(FAILURE)
    assert told == [None]


def test_a_failure_meanwhile_is_told_to_those_whose_turn_has_not_come() -> None:
    waiting = Waiting()
    told: list[Exception | None] = []
    # Whoever is told may write on at once, and find the disk broken.
    waiting.tell(5, lambda _: waiting.failed(FAILURE))
    waiting.tell(9, told.append)
    waiting.reached(5)
    assert told == [FAILURE]


def test_watchers_are_called_whenever_more_can_be_read() -> None:
    waiting = Waiting()
    calls: list[str] = []

    def watcher() -> None:
        calls.append("more")

    waiting.watch(watcher)
    waiting.reached(1)
    waiting.wake()
    waiting.unwatch(watcher)
    waiting.reached(2)
    assert calls == ["more", "more"]


def test_a_watcher_may_go_away_while_it_is_called() -> None:
    waiting = Waiting()
    calls: list[str] = []

    def leave() -> None:
        calls.append("left")
        waiting.unwatch(leave)

    waiting.watch(leave)
    waiting.watch(lambda: calls.append("stayed"))
    waiting.wake()
    waiting.wake()
    assert sorted(calls) == ["left", "stayed", "stayed"]
