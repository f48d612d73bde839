"""Group commit: one round for everything that was written before it."""

import asyncio
from collections.abc import Callable

import pytest

from riverlog.log.commit import GroupCommit
from riverlog.stores.syncer import InlineSyncer, Job, Outcome
from tests.log.held_syncer import HeldSyncer


class Counted:
    """Something to be made durable, that counts."""

    def __init__(
        self, failure: OSError | None = None, on_begin: Callable[[], object] | None = None
    ) -> None:
        self.is_awaited = True
        self.begun = 0
        self.synced = 0
        self.outcomes: list[Outcome] = []
        self._failure = failure
        self._on_begin = on_begin

    def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
        self.begun += 1
        if self._on_begin is not None:
            self._on_begin()
        return self._sync, self.outcomes.append

    def begin_entry(self) -> None:
        """It has nothing that a journal could keep."""

    def _sync(self) -> None:
        self.synced += 1
        if self._failure is not None:
            raise self._failure


async def test_one_sync_is_enough_for_all_that_was_written_in_one_turn() -> None:
    commit, partition = GroupCommit(InlineSyncer()), Counted()
    for _ in range(64):
        commit.request(partition)
    await commit.idle()
    assert partition.synced == 1
    assert partition.outcomes == [None]


async def test_what_is_written_during_a_round_shares_the_next_one() -> None:
    syncer, partition = HeldSyncer(), Counted()
    commit = GroupCommit(syncer)
    commit.request(partition)
    assert await syncer.begun()
    for _ in range(64):
        commit.request(partition)
    await syncer.begun()
    assert len(syncer.rounds) == 1
    await syncer.release()
    await syncer.release()
    await asyncio.wait_for(commit.idle(), 1)
    assert partition.synced == 2


async def test_partitions_share_a_round_and_learn_their_own_outcomes() -> None:
    failure = OSError(5, "broken")
    syncer, good, bad = HeldSyncer(), Counted(), Counted(failure)
    commit = GroupCommit(syncer)
    commit.request(good)
    commit.request(bad)
    await syncer.release()
    assert good.outcomes == [None]
    assert bad.outcomes == [failure]


async def test_nothing_runs_while_nothing_is_written() -> None:
    syncer = HeldSyncer()
    commit = GroupCommit(syncer)
    commit.request(Counted())
    await syncer.release()
    assert not await syncer.begun()
    await asyncio.wait_for(commit.idle(), 1)


async def test_a_partition_that_is_gone_is_left_out() -> None:
    syncer, partition = HeldSyncer(), Counted()
    commit = GroupCommit(syncer)
    commit.request(partition)
    commit.forget(partition)
    assert not await syncer.begun()
    assert partition.begun == 0


async def test_idle_waits_for_the_round_and_for_what_came_meanwhile() -> None:
    syncer, partition = HeldSyncer(), Counted()
    commit = GroupCommit(syncer)
    commit.request(partition)
    assert await syncer.begun()
    idle = asyncio.ensure_future(commit.idle())
    commit.request(partition)
    await syncer.release()
    assert await syncer.begun()
    assert not idle.done()
    await syncer.release()
    await asyncio.wait_for(idle, 1)
    assert partition.synced == 2


async def test_idle_does_not_wait_for_a_partition_that_went_away() -> None:
    syncer, one, other = HeldSyncer(), Counted(), Counted()
    commit = GroupCommit(syncer)
    commit.request(one)
    assert await syncer.begun()
    commit.request(other)
    idle = asyncio.ensure_future(commit.idle())
    await syncer.release()
    commit.forget(other)
    await asyncio.wait_for(idle, 1)


async def test_a_partition_may_write_while_a_round_begins() -> None:
    commit, other = GroupCommit(InlineSyncer()), Counted()
    commit.request(Counted(on_begin=lambda: commit.request(other)))
    await asyncio.wait_for(commit.idle(), 1)
    assert other.synced == 1


async def test_a_round_begun_in_a_quiet_turn_leaves_nothing_to_do_behind() -> None:
    commit, partition = GroupCommit(InlineSyncer()), Counted()
    noted: list[str] = []
    commit.before_telling.append(lambda: noted.append(f"before {partition.outcomes}"))
    commit.after_round.append(lambda: noted.append(f"after {partition.outcomes}"))
    commit.gather()
    commit.request(partition)
    assert partition.synced == 0
    commit.begin_if_quiet()
    assert partition.synced == 1
    assert noted == ["before []", "after [None]"]
    assert not asyncio.get_running_loop()._ready  # type: ignore[attr-defined]  # asyncio's own


async def test_what_was_gathered_in_a_busy_turn_waits_for_the_others_in_it() -> None:
    commit, partition, other = GroupCommit(InlineSyncer()), Counted(), Counted()
    asyncio.get_running_loop().call_soon(lambda: commit.request(other))
    commit.gather()
    commit.request(partition)
    commit.begin_if_quiet()
    assert partition.synced == 0
    await asyncio.wait_for(commit.idle(), 1)
    assert (partition.synced, other.synced) == (1, 1)
    assert (partition.begun, other.begun) == (1, 1)


async def test_one_who_fails_when_told_does_not_keep_others_from_their_replies() -> None:
    class Failing(Counted):
        def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
            return super().begin_sync()[0], lambda _outcome: self.failed()

        def failed(self) -> None:
            raise ZeroDivisionError

    commit = GroupCommit(InlineSyncer())
    noted: list[str] = []
    commit.after_round.append(lambda: noted.append("after"))
    commit.gather()
    commit.request(Failing())
    with pytest.raises(ZeroDivisionError):
        commit.begin_if_quiet()
    assert noted == ["after"]
