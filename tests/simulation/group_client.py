"""A consumer in virtual time: it joins, works, commits, and now and then behaves badly."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from riverlog.broker.coordinator import Coordinator
from riverlog.groups.attending import Caller, Sync
from riverlog.groups.decision import Joined, Refused, Reply, Synced
from riverlog.groups.errors import (
    FencedInstance,
    GroupError,
    MemberIdRequired,
    UnknownMember,
)
from riverlog.groups.facts import OffsetCommitted
from riverlog.groups.members import Profile
from riverlog.groups.offsets import Commit
from riverlog.runtime.clock import Clock
from riverlog.testing.manual_clock import START_MS
from riverlog.testing.seeded_chance import SeededChance
from tests.simulation.ledger import PARTITIONS, Ledger

GROUP, TOPIC = "readers", "orders"
SESSION_MS, REBALANCE_MS = 6_000, 8_000
HEARTBEAT_MS = 2_000
# Nobody is kept waiting for longer than rebalances take that follow one another.
PATIENCE_MS = 200_000

Send = Callable[[Callable[[Reply], None]], None]


class LostReply(Exception):
    """The network took the reply; the broker did what it was asked."""


class GroupClient:
    """One process, or when it is static one after the other under the same name."""

    def __init__(self, name: str, is_static: bool, ledger: Ledger, chance: SeededChance) -> None:
        self.name = name
        self._instance_id = name if is_static else None
        self._ledger = ledger
        self._chance = chance
        self._member_id = ""
        self._generation = -1
        self._partitions: list[int] = []
        self._late: tuple[Caller, OffsetCommitted] | None = None
        self._misbehaves = True

    def settle(self) -> None:
        """From now on it behaves, and so does its network."""
        self._misbehaves = False

    async def live(self, coordinator: Coordinator, clock: Clock) -> None:
        """Takes part until it is cancelled."""
        while True:
            try:
                await self._take_part(coordinator, clock)
            except LostReply:
                continue
            except (UnknownMember, FencedInstance):
                self._member_id = ""
            except GroupError:
                await clock.sleep_ms(self._chance.between(50, 500))
            self._generation, self._partitions = -1, []

    @property
    def share(self) -> tuple[int, list[int]]:
        """The generation it works in, and its partitions."""
        return self._generation, self._partitions

    async def _take_part(self, coordinator: Coordinator, clock: Clock) -> None:
        joined = await self._join(coordinator)
        self._ledger.joined(joined.member_id, joined.generation)
        caller = Caller(joined.member_id, self._instance_id, joined.generation)
        # Whoever takes a place over has nothing to share out: its former self has done it.
        is_leader = joined.leader_id == joined.member_id and joined.replaces is None
        shares = _shared_out([member[0] for member in joined.members]) if is_leader else {}
        await clock.sleep_ms(self._chance.between(0, 300))
        sync = Sync(caller, joined.protocol_type, joined.protocol, shares)
        synced = await self._ask(lambda told: coordinator.sync(GROUP, sync, told))
        assert isinstance(synced, Synced)
        self._partitions = list(synced.assignment)
        self._generation = joined.generation
        name = self._instance_id or joined.member_id
        self._ledger.owns(name, joined.member_id, joined.generation, self._partitions)
        await self._work(coordinator, clock, caller)

    async def _join(self, coordinator: Coordinator) -> Joined:
        while True:
            profile = Profile(
                self._member_id, self._instance_id, self.name, "/", SESSION_MS, REBALANCE_MS,
                (("range", b""),),
            )  # fmt: skip

            def send(told: Callable[[Reply], None], profile: Profile = profile) -> None:
                coordinator.join(GROUP, profile, "consumer", told, returns_with_id=True)

            try:
                joined = await self._ask(send)
            except MemberIdRequired as required:
                self._member_id = str(required).split("'")[1]
                continue
            assert isinstance(joined, Joined)
            self._member_id = joined.member_id
            return joined

    async def _work(self, coordinator: Coordinator, clock: Clock, caller: Caller) -> None:
        offsets = coordinator.offsets(GROUP)
        known = {place: offset.offset for place, offset in offsets.items()}
        self._ledger.fetched(known, TOPIC)
        progress = {p: known.get((TOPIC, p), 0) for p in self._partitions}
        while True:
            await clock.sleep_ms(self._chance.between(HEARTBEAT_MS // 3, HEARTBEAT_MS))
            if self._misbehaves:
                await self._misbehave(coordinator, clock)
            if self._partitions:
                partition = self._partitions[self._chance.below(len(self._partitions))]
                progress[partition] += self._chance.between(1, 3)
                await self._commit(coordinator, caller, partition, progress[partition])
            coordinator.heartbeat(GROUP, caller)

    async def _misbehave(self, coordinator: Coordinator, clock: Clock) -> None:
        if self._chance.happens(0.05):
            # It is stuck for longer than its session lasts.
            await clock.sleep_ms(self._chance.between(SESSION_MS, 2 * SESSION_MS))
        elif self._late is not None and self._late[0].generation != self._generation:
            # What it sent in an earlier generation arrives only now.
            with suppress(GroupError):
                coordinator.commit(GROUP, Commit(self._late[0], [self._late[1]]), _unheard)
            self._late = None
        elif self._chance.happens(0.08):
            coordinator.leave(GROUP, self._member_id, None)
            self._member_id = ""
            await clock.sleep_ms(self._chance.between(0, 4_000))
            raise LostReply
        elif self._chance.happens(0.08):
            # The process dies without a word, and another one is started.
            self._member_id = ""
            await clock.sleep_ms(self._chance.between(0, 4_000))
            raise LostReply

    async def _commit(
        self, coordinator: Coordinator, caller: Caller, partition: int, offset: int
    ) -> None:
        committed = OffsetCommitted(TOPIC, partition, offset, -1, "", START_MS)
        if self._chance.happens(0.2):
            self._late = caller, committed._replace(offset=max(0, offset - 1))
        loop = asyncio.get_running_loop()
        done: asyncio.Future[GroupError | None] = loop.create_future()

        def written(error: GroupError | None) -> None:
            if error is None:
                self._ledger.acknowledged(partition, offset)
            if not done.done():
                done.set_result(error)

        coordinator.commit(GROUP, Commit(caller, [committed]), written)
        async with asyncio.timeout(PATIENCE_MS / 1000):
            error = await done
        if error is not None:
            raise error

    async def _ask(self, send: Send) -> Reply:
        done: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        def told(reply: Reply) -> None:
            if not done.done():
                done.set_result(reply)

        send(told)
        if self._misbehaves and self._chance.happens(0.05):
            raise LostReply
        async with asyncio.timeout(PATIENCE_MS / 1000):
            reply = await done
        if isinstance(reply, Refused):
            raise reply.error
        return reply


def _unheard(_error: GroupError | None) -> None:
    """Whoever sent it has stopped listening."""


def _shared_out(member_ids: list[str]) -> dict[str, bytes]:
    shares: dict[str, list[int]] = {member_id: [] for member_id in member_ids}
    for partition in range(PARTITIONS):
        shares[member_ids[partition % len(member_ids)]].append(partition)
    return {member_id: bytes(partitions) for member_id, partitions in shares.items()}
