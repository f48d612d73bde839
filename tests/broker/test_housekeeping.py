"""Passes over all partitions: which are looked at, which are opened, and when files go."""

import asyncio
from contextlib import suppress
from typing import NamedTuple

import pytest

from riverlog.broker.broker import Broker
from riverlog.broker.housekeeping import AGAIN_MS, READ_ON_MS
from riverlog.cluster.topics import TopicCreated
from riverlog.log.partition import Partition
from riverlog.log.segment import segment_names
from riverlog.log.settings import LogSettings
from riverlog.testing.manual_clock import START_MS, ManualClock
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from tests.broker.brokers import new_disk, open_broker
from tests.log.logs import batch_of, send

DAY_MS = 86_400_000
LATER_MS = START_MS + 8 * DAY_MS
SMALL = LogSettings(segment_records=2)
INTERVAL_MS = 300_000


class Kept(NamedTuple):
    """A broker with a topic of six records in three segments."""

    disk: SimulatedDisk
    clock: ManualClock
    broker: Broker
    topic: TopicCreated

    @property
    def log(self) -> Partition:
        return self.broker.partition(self.topic, 0)

    def bases(self) -> list[int]:
        names = self.disk.list(f"data/topics/{self.topic.topic_id.hex()}/0")
        return sorted(segment_names(names))

    async def reopened(self, *, is_clean: bool = True) -> "Kept":
        """The same topic after a stop."""
        disk = self.disk
        if is_clean:
            await self.broker.close()
        else:
            disk = disk.process_crash()
        broker = await open_broker(disk, clock=self.clock, seed=1, defaults=SMALL)
        return Kept(disk, self.clock, broker, broker.topic(self.topic.name))


async def kept(name: str = "orders", **configs: str) -> Kept:
    disk, clock = new_disk(), ManualClock()
    broker = await open_broker(disk, clock=clock, defaults=SMALL)
    given = {key.replace("_", "."): value for key, value in configs.items()}
    topic = await broker.create_topic(name, 2, given)
    log = broker.partition(topic, 0)
    for _ in range(6):
        await send(log, batch_of(b"x", times_ms=[START_MS]), START_MS)
    return Kept(disk, clock, broker, topic)


async def tidy(world: Kept, passes: int, now_ms: int = LATER_MS) -> None:
    for _ in range(passes):
        await world.broker.housekeeping.tidy(now_ms)
        await asyncio.sleep(0)  # A round of group commit, for a checkpoint that was wanted.


async def test_a_pass_lets_what_has_had_its_time_go_and_its_files_follow_later() -> None:
    world = await kept()
    await tidy(world, 2)
    assert world.log.log_start_offset == 2
    await world.broker.housekeeping.remove_files()
    assert world.bases() == [0, 2, 4]

    world.clock.advance_ms(SMALL.file_delete_delay_ms)
    await world.broker.housekeeping.remove_files()

    assert world.bases() == [2, 4]


async def test_settings_of_the_topic_come_first() -> None:
    world = await kept(retention_ms="-1", riverlog_retention_segments="1")
    await tidy(world, 3)
    assert world.log.log_start_offset == 4
    world = await kept(retention_ms="-1")
    await tidy(world, 3)
    assert world.log.log_start_offset == 0


async def test_a_reader_that_has_a_segment_keeps_its_file() -> None:
    world = await kept(file_delete_delay_ms="0")
    path = world.log._segments[0].path
    handles = world.broker._shared.handles
    file = handles.lend(path)
    await tidy(world, 2)
    await world.broker.housekeeping.remove_files()
    assert file.read(0, 10)
    assert world.bases() == [0, 2, 4]

    handles.give_back(path)
    world.clock.advance_ms(READ_ON_MS)
    await world.broker.housekeeping.remove_files()

    assert world.bases() == [2, 4]


@pytest.mark.parametrize("is_clean", [True, False])
async def test_partitions_that_nobody_has_used_are_looked_at_too(is_clean: bool) -> None:
    world = await (await kept()).reopened(is_clean=is_clean)
    await tidy(world, 9)
    assert (world.log.log_start_offset, world.log.high_watermark) == (6, 6)


async def test_where_nothing_has_to_go_nothing_is_opened_and_no_segment_read() -> None:
    world = await (await kept()).reopened()
    await tidy(world, 1, START_MS + DAY_MS)
    calls = len(world.disk.trace)
    await tidy(world, 5, START_MS + 6 * DAY_MS)
    assert not world.broker._partitions
    assert len(world.disk.trace) == calls
    assert not [op for op, path in world.disk.trace if op is Op.READ and _is_of_topic(path, ".log")]


async def test_files_left_by_a_crash_go_even_if_nobody_uses_the_partition() -> None:
    world = await kept()
    await tidy(world, 2)
    world = await world.reopened(is_clean=False)
    assert world.bases() == [0, 2, 4]
    await tidy(world, 1, START_MS)
    assert world.bases() == [2, 4]


@pytest.mark.parametrize(
    ("configs", "start"),
    [
        ({"retention_bytes": "200"}, 2),
        ({"riverlog_retention_segments": "2"}, 2),
        ({"riverlog_retention_segments": "3"}, 0),
        ({"retention_bytes": "100000"}, 0),
        ({"cleanup_policy": "compact", "retention_bytes": "0"}, 0),
    ],
)
async def test_a_partition_at_rest_is_judged_like_one_in_use(
    configs: dict[str, str], start: int
) -> None:
    world = await (await kept(**configs)).reopened()
    await tidy(world, 3, START_MS + 1)
    assert bool(world.broker._partitions) == (start > 0)
    assert world.log.log_start_offset == start


async def test_a_changed_setting_is_heard_by_partitions_at_rest() -> None:
    world = await (await kept()).reopened()
    await tidy(world, 2, START_MS + DAY_MS)
    await world.broker.changes.set_configs("orders", {"retention.ms": "1000"})
    await tidy(world, 2, START_MS + DAY_MS)
    assert world.log.log_start_offset > 0


async def test_the_brokers_own_topics_are_left_alone() -> None:
    world = await kept("__consumer_offsets", cleanup_policy="delete")
    await tidy(world, 3)
    assert world.log.log_start_offset == 0


async def test_silent_producers_are_forgotten() -> None:
    world = await kept()
    await send(world.log, batch_of(b"x", producer=(7, 0)), START_MS)
    await tidy(world, 1, START_MS + DAY_MS)
    assert len(world.log.producers) == 1
    await tidy(world, 1, START_MS + DAY_MS + 1)
    assert len(world.log.producers) == 0


async def test_one_partition_that_cannot_be_tidied_hinders_no_other() -> None:
    world = await kept()
    other = world.broker.partition(world.topic, 1)
    for _ in range(4):
        await send(other, batch_of(b"x", times_ms=[START_MS]), START_MS)
    world.disk.inject(Fault(Effect.EIO, times=None, fits=lambda path: "/0/" in path))
    await tidy(world, 2)
    assert (world.log.log_start_offset, other.log_start_offset) == (0, 2)


async def test_it_runs_by_itself_and_ends_a_pass_when_a_checkpoint_is_there() -> None:
    world = await kept()
    task = asyncio.ensure_future(world.broker.housekeeping.run())
    starts, files = [], []
    try:
        for pause_ms in (INTERVAL_MS, AGAIN_MS, AGAIN_MS, SMALL.file_delete_delay_ms, INTERVAL_MS):
            await world.clock.until_asleep()
            world.clock.jump_wall_ms(8 * DAY_MS)
            world.clock.advance_ms(pause_ms)
            for _ in range(5):
                await asyncio.sleep(0)
            starts.append(world.log.log_start_offset)
            files.append(len(world.bases()))
        assert starts == [0, 2, 2, 2, 4]
        assert files == [3, 3, 3, 2, 2]
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _is_of_topic(path: str, suffix: str) -> bool:
    return "/topics/" in path and path.endswith(suffix)


@pytest.mark.parametrize(("policy", "goes"), [("compact", True), ("delete", False)])
async def test_of_the_brokers_own_topics_goes_what_stands_before_their_start_and_no_more(
    policy: str, goes: bool
) -> None:
    world = await kept("__consumer_offsets", cleanup_policy=policy)
    await tidy(world, passes=3)
    assert world.log.log_start_offset == 0

    moved = world.log.delete_before(4)
    assert moved is not None
    await moved
    await tidy(world, passes=3)
    world.clock.advance_ms(DAY_MS)
    await world.broker.housekeeping.remove_files()

    assert (0 not in world.bases()) == goes
    assert 4 in world.bases()


@pytest.mark.parametrize(("jumps", "left"), [(False, 6), (True, 2)])
async def test_all_that_became_due_goes_at_once_unless_the_clock_has_jumped(
    jumps: bool, left: int
) -> None:
    world = await kept()
    await world.log.retire(LATER_MS)  # It wants a checkpoint, without which nothing goes.
    await asyncio.sleep(0)
    world.clock.advance_ms(6 * DAY_MS)
    await world.broker.housekeeping.tidy(world.clock.now_ms())

    if jumps:
        world.clock.jump_wall_ms(2 * DAY_MS)
    else:
        world.clock.advance_ms(2 * DAY_MS)
    await world.broker.housekeeping.tidy(world.clock.now_ms())

    assert world.log.log_start_offset == left
