"""The coordinator: what time does to groups, what is read at a start, and what is let go of."""

import asyncio

import pytest

from riverlog.broker import group_log
from riverlog.broker.broker import Broker
from riverlog.broker.internal_topics import OFFSETS_TOPIC
from riverlog.groups.attending import Caller, Sync
from riverlog.groups.decision import Joined, Refused, Reply, Synced
from riverlog.groups.errors import (
    CoordinatorLoading,
    CoordinatorUnavailable,
    GroupError,
    UnknownMember,
)
from riverlog.groups.facts import OffsetCommitted
from riverlog.groups.group import State
from riverlog.groups.members import Profile
from riverlog.groups.offsets import Commit
from riverlog.groups.settings import DAY_MS, GroupSettings
from riverlog.testing.disk_contents import Survival
from riverlog.testing.disk_faults import Effect, Fault, Op
from riverlog.testing.manual_clock import ManualClock
from tests.broker.brokers import new_disk, open_broker

GROUP, TOPIC = "readers", "orders"
PROFILE = Profile("", None, "client", "/", 6_000, 5_000, (("range", b""),))
NOBODY = Caller("", None, -1)


async def turns() -> None:
    """Lets everyone who can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def commit(broker: Broker, offset: int, group: str = GROUP, partition: int = 0) -> None:
    """Commits outside of any generation; durable when it returns."""
    done: asyncio.Future[GroupError | None] = asyncio.get_running_loop().create_future()
    now_ms = broker.clock.now_ms()
    committed = OffsetCommitted(TOPIC, partition, offset, -1, "", now_ms)
    broker.coordinator.commit(group, Commit(NOBODY, [committed]), done.set_result)
    assert await done is None


async def settled(broker: Broker, clock: ManualClock) -> Caller:
    """The one member of a group that is stable."""
    replies: list[Reply] = []
    broker.coordinator.join(GROUP, PROFILE, "consumer", replies.append, returns_with_id=False)
    await clock.until_asleep()
    clock.advance_ms(100)
    await turns()
    (joined,) = replies
    assert isinstance(joined, Joined)
    caller = Caller(joined.member_id, None, joined.generation)
    shares = {joined.member_id: b"all"}
    broker.coordinator.sync(GROUP, Sync(caller, None, None, shares), replies.append)
    await turns()
    assert isinstance(replies[1], Synced)
    return caller


async def test_time_alone_begins_a_generation_and_ends_a_session() -> None:
    clock = ManualClock()
    broker = await open_broker(new_disk(), clock=clock)
    await broker.coordinator.prepare()
    caller = await settled(broker, clock)
    clock.advance_ms(5_999)
    await turns()
    broker.coordinator.heartbeat(GROUP, caller)
    clock.advance_ms(5_999)
    await turns()
    group = broker.coordinator.find(GROUP)
    assert group is not None
    assert len(group.members) == 1
    clock.advance_ms(1)
    await turns()
    assert group.state is State.EMPTY
    with pytest.raises(UnknownMember):
        broker.coordinator.heartbeat(GROUP, caller)
    await broker.close()


async def test_a_wall_clock_that_jumps_ends_no_session() -> None:
    clock = ManualClock()
    broker = await open_broker(new_disk(), clock=clock)
    await broker.coordinator.prepare()
    caller = await settled(broker, clock)
    clock.jump_wall_ms(100 * DAY_MS)
    await turns()
    broker.coordinator.heartbeat(GROUP, caller)
    await broker.close()


async def test_who_waits_is_told_when_its_time_is_over() -> None:
    clock = ManualClock()
    broker = await open_broker(new_disk(), clock=clock)
    await broker.coordinator.prepare()
    await settled(broker, clock)
    replies: list[Reply] = []
    broker.coordinator.join(GROUP, PROFILE, "consumer", replies.append, returns_with_id=False)
    assert replies == []
    # The first member does not join again within the rebalance timeout.
    clock.advance_ms(5_000)
    await turns()
    (joined,) = replies
    assert isinstance(joined, Joined)
    assert joined.generation == 2
    assert [member[0] for member in joined.members] == [joined.member_id]
    await broker.close()


async def test_a_long_log_is_read_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.coordinator.prepare()
    for offset in range(50):
        await commit(broker, offset)
    await broker.close()
    monkeypatch.setattr(group_log, "READ_BYTES", 300)

    broker = await open_broker(disk)

    coordinator = broker.coordinator
    with pytest.raises(CoordinatorLoading):
        coordinator.offsets(GROUP)
    with pytest.raises(CoordinatorLoading):
        coordinator.all_groups()
    while True:
        await asyncio.sleep(0)
        try:
            offsets = coordinator.offsets(GROUP)
        except CoordinatorLoading:
            continue
        break
    assert offsets[TOPIC, 0].offset == 49
    await broker.close()


async def test_a_log_whose_last_offsets_nothing_has_is_read_to_its_end() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.coordinator.prepare()
    await commit(broker, 7)
    # Offsets are given away, and then refused by the disk.
    syncs = frozenset({Op.SYNC})
    disk.inject(Fault(Effect.EIO, times=2, ops=syncs, fits=lambda path: path.endswith(".log")))
    for offset in (8, 9):
        with pytest.raises(AssertionError):
            await commit(broker, offset)
    disk = disk.power_cut(Survival.NOTHING)

    broker = await open_broker(disk)

    assert broker.coordinator.offsets(GROUP)[TOPIC, 0].offset == 7
    await commit(broker, 9)
    assert broker.coordinator.offsets(GROUP)[TOPIC, 0].offset == 9
    await broker.close()


async def test_offsets_of_a_group_without_members_go_in_time_and_for_good() -> None:
    disk, clock = new_disk(), ManualClock()
    broker = await open_broker(disk, clock=clock)
    await broker.coordinator.prepare()
    await commit(broker, 7)
    check_ms = GroupSettings().retention_check_ms
    await turns()
    clock.advance_ms(7 * DAY_MS - check_ms)
    await turns()
    assert broker.coordinator.find(GROUP) is not None
    await clock.until_asleep()
    clock.advance_ms(check_ms)
    await turns()
    assert broker.coordinator.find(GROUP) is None
    await broker.close()

    broker = await open_broker(disk, clock=clock)

    assert list(broker.coordinator.all_groups()) == []
    await broker.close()


async def test_deleting_and_committing_at_once_leaves_what_came_last() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.coordinator.prepare()
    first = asyncio.ensure_future(commit(broker, 7))
    await asyncio.sleep(0)
    broker.coordinator.delete(GROUP, lambda _error: None)
    last = asyncio.ensure_future(commit(broker, 3, partition=1))
    await asyncio.gather(first, last)
    kept = {place: offset.offset for place, offset in broker.coordinator.offsets(GROUP).items()}
    assert kept == {(TOPIC, 1): 3}
    await broker.close()

    broker = await open_broker(disk)

    assert {p: o.offset for p, o in broker.coordinator.offsets(GROUP).items()} == kept
    await broker.close()


async def test_ids_that_are_given_and_never_used_leave_nothing_behind() -> None:
    clock = ManualClock()
    broker = await open_broker(new_disk(), clock=clock)
    await broker.coordinator.prepare()
    replies: list[Reply] = []
    for number in range(20):
        group = f"group {number}"
        broker.coordinator.join(group, PROFILE, "consumer", replies.append, returns_with_id=True)
    assert all(isinstance(reply, Refused) for reply in replies)
    assert len(broker.coordinator._groups) == 20
    await clock.until_asleep()
    clock.advance_ms(6_000)
    await turns()
    assert broker.coordinator._groups == {}
    await broker.close()


async def test_groups_are_spread_as_kafka_would() -> None:
    broker = await open_broker(new_disk())
    await broker.coordinator.prepare()
    for number in range(12):
        await commit(broker, 1, f"group-{number}")
    topic = broker.topic(OFFSETS_TOPIC)
    counts = [
        broker.partition(topic, index).high_watermark for index in range(topic.partition_count)
    ]
    assert sum(counts) == 12
    assert all(counts)
    await broker.close()


async def test_a_log_of_many_commits_is_condensed_to_what_matters() -> None:
    disk, clock = new_disk(), ManualClock()
    few = GroupSettings(log_length_min=20)
    broker = await open_broker(disk, clock=clock, group_settings=few)
    await broker.coordinator.prepare()
    await turns()
    await commit(broker, 1, partition=1)
    for offset in range(100):
        await commit(broker, offset)
    await clock.until_asleep()
    clock.advance_ms(few.retention_check_ms)
    for _ in range(20):
        await turns()
    topic = broker.topic(OFFSETS_TOPIC)
    logs = [broker.partition(topic, index) for index in range(topic.partition_count)]
    (log,) = [log for log in logs if log.high_watermark]
    assert log.log_start_offset == 101
    await commit(broker, 100)
    await broker.close()

    broker = await open_broker(disk, clock=clock)

    offsets = broker.coordinator.offsets(GROUP)
    assert {place: each.offset for place, each in offsets.items()} == {
        (TOPIC, 0): 100,
        (TOPIC, 1): 1,
    }
    await broker.close()


async def test_there_are_no_more_groups_than_may_be() -> None:
    broker = await open_broker(new_disk(), group_settings=GroupSettings(groups_max=1))
    await broker.create_topic(TOPIC, 1, {})
    await broker.coordinator.prepare()
    await commit(broker, 1)
    await commit(broker, 2)
    with pytest.raises(CoordinatorUnavailable, match="1 groups"):
        await commit(broker, 1, "another")
    with pytest.raises(CoordinatorUnavailable, match="1 groups"):
        join_with(broker, "another", b"")
    await broker.close()


async def test_what_members_say_of_themselves_is_bounded_over_all_groups() -> None:
    settings = GroupSettings(members_bytes_max=15_000)
    broker = await open_broker(new_disk(), group_settings=settings)
    await broker.coordinator.prepare()
    join_with(broker, "first", bytes(10_000))
    with pytest.raises(CoordinatorUnavailable, match="10005 bytes"):
        join_with(broker, "second", bytes(5_000))
    join_with(broker, "second", bytes(10))
    await broker.close()


def join_with(broker: Broker, group: str, metadata: bytes) -> None:
    profile = PROFILE._replace(protocols=(("range", metadata),))
    broker.coordinator.join(group, profile, "consumer", lambda _reply: None, returns_with_id=False)
