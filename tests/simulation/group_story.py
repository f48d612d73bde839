"""One seeded story: several lives of a broker, and clients that outlive it."""

import asyncio
from collections.abc import Sequence
from random import Random

from riverlog.broker.broker import Broker, World
from riverlog.groups.attending import Caller
from riverlog.groups.errors import GroupError
from riverlog.groups.facts import OffsetCommitted
from riverlog.groups.offsets import Commit
from riverlog.groups.settings import GroupSettings
from riverlog.runtime.clock import Clock
from riverlog.stores.syncer import Done, InlineSyncer, Job
from riverlog.testing import virtual_loop
from riverlog.testing.disk_contents import Survival
from riverlog.testing.disk_faults import Effect, Fault, Op
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk
from riverlog.testing.virtual_loop import LoopClock
from tests.simulation.group_client import GROUP, TOPIC, GroupClient
from tests.simulation.ledger import PARTITIONS, Broken, Ledger

LIVES = 3
LIFE_MS_MAX = 12_000
SETTLING_MS = 28_000
# Logs are condensed all the time, in the middle of everything.
SETTINGS = GroupSettings(partition_count=1, log_length_min=0, retention_check_ms=3_000)


class SlowSyncer:
    """Syncs that take long enough for lives to end within them."""

    def __init__(self, chance: SeededChance) -> None:
        self._chance = chance

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        delay_s = self._chance.between(0, 400) / 1000
        loop = asyncio.get_running_loop()
        loop.call_later(delay_s, lambda: InlineSyncer().run(jobs, done))

    def run_apart(self, job: Job, done: Done) -> None:
        InlineSyncer().run_apart(job, done)

    def close(self) -> None:
        pass


class GroupStory:
    """Everything that one seed brings about; raises `Broken`."""

    def __init__(self, seed: int) -> None:
        self._chance = SeededChance(seed)
        self._disk = SimulatedDisk(Random(seed))
        self._disk.make_directory("data")
        self._disk.sync_directory("")
        self.ledger = Ledger()
        self._is_kept = False
        self._clients = [
            GroupClient(
                f"c{number}",
                self._chance.happens(0.3),
                self.ledger,
                self._chance.fork(f"client {number}"),
            )
            for number in range(self._chance.between(1, 4))
        ]

    def play(self) -> None:
        for life in range(LIVES):
            is_last = life == LIVES - 1
            virtual_loop.run(self._live(is_last), seed=self._chance.below(1 << 30))
            if self._chance.happens(0.5):
                self._disk = self._disk.power_cut(Survival.NOTHING)
            else:
                self._disk = self._disk.process_crash()

    async def _live(self, is_last: bool) -> None:
        clock = LoopClock()
        world = World(
            self._disk,
            SlowSyncer(self._chance.fork("syncs")),
            clock,
            self._chance.fork(f"ids {self._chance.below(1 << 30)}"),
            lambda _damage: None,
        )
        broker = await Broker.open(world, "data", group_settings=SETTINGS)
        await broker.coordinator.prepare()
        if not self._is_kept:
            self._is_kept = await _keep(broker)
        if self._chance.happens(0.2) and not is_last:
            at = self._chance.between(1, 20)
            self._disk.inject(Fault(Effect.EIO, at=at, ops=frozenset({Op.SYNC})))
        loop = asyncio.get_running_loop()
        living = [
            loop.create_task(client.live(broker.coordinator, clock)) for client in self._clients
        ]
        try:
            await self._watch(clock, living, is_last)
            if is_last:
                self._check_shares()
            committed = broker.coordinator.offsets(GROUP)
            self.ledger.fetched({place: each.offset for place, each in committed.items()}, TOPIC)
        finally:
            await _end(living)

    async def _watch(self, clock: Clock, living: list[asyncio.Task[None]], is_last: bool) -> None:
        if not is_last:
            await clock.sleep_ms(self._chance.between(100, LIFE_MS_MAX))
            return
        for client in self._clients:
            client.settle()
        await clock.sleep_ms(SETTLING_MS // 2)
        if len(living) > 1 and self._chance.happens(0.5):
            # One ends without a word; the others have its partitions before long.
            living[-1].cancel()
            self._clients.pop()
        await clock.sleep_ms(SETTLING_MS // 2)

    def _check_shares(self) -> None:
        """Left in peace, the group is stable, and every partition someone's."""
        shares = [client.share for client in self._clients]
        generations = {generation for generation, _ in shares}
        owned = sorted(partition for _, partitions in shares for partition in partitions)
        if len(generations) != 1 or owned != list(range(PARTITIONS)):
            raise Broken(f"the group does not come to rest: {shares}")


async def _keep(broker: Broker) -> bool:
    """Commits something that stays: a group without any offset ends with its last member."""
    done: asyncio.Future[GroupError | None] = asyncio.get_running_loop().create_future()
    committed = OffsetCommitted("kept", 0, 0, -1, "", broker.clock.now_ms())
    nobody = Caller("", None, -1)
    broker.coordinator.commit(GROUP, Commit(nobody, [committed]), done.set_result)
    return await done is None


async def _end(living: list[asyncio.Task[None]]) -> None:
    """Ends all clients, and raises what one of them found."""
    for task in living:
        task.cancel()
    await asyncio.wait(living)
    failures = [task.exception() for task in living if not task.cancelled()]
    for failure in failures:
        if failure is not None:
            raise failure
