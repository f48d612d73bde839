"""Reading a topic as a member of a consumer group.

The group is joined, and joined again, by whoever asks for records: all that was given before is
done with then, so that what is committed is what was processed. A task of its own tells the group
that we are alive, commits now and then, and notices when the group gathers anew.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from riverlog.client.cluster import Cluster
from riverlog.client.connection import ConnectionLost
from riverlog.client.coordinator import OUTSIDE, Coordinator, Joined, MustRejoin
from riverlog.client.errors import ClientError, InvalidArgument, TimedOut, UnknownTopic, Unreachable
from riverlog.client.fetcher import Fetcher
from riverlog.client.group_offsets import commit, committed
from riverlog.client.membership import read_assignment, share_by_range, write_assignment
from riverlog.client.offsets import find
from riverlog.client.plain_source import chunks
from riverlog.client.received import ReceivedRecord
from riverlog.client.source import ReadingOptions, Rebalance
from riverlog.client.waiting import Deadline
from riverlog.runtime.tasks import Supervisor

SESSION_TIMEOUT_MS = 10_000
PROCESSING_MS_MAX = 300_000
# How often the group hears from us and progress is committed, unless sessions are very short.
BEAT_MS = 1_000
LEAVE_MS_MAX = 2_000


class GroupSource:
    """One member of a group, reading one topic."""

    def __init__(
        self,
        cluster: Cluster,
        tasks: Supervisor,
        name: str,
        topic: str,
        group: str,
        options: ReadingOptions,
    ) -> None:
        if options.get("partitions") is not None or options.get("until") is not None:
            raise InvalidArgument("a group shares out the partitions, and reads for ever")
        self._cluster = cluster
        self._clock = cluster.world.clock
        self._tasks = tasks
        self._name = name
        self._topic = topic
        self._options = options
        self._session_timeout_ms = options.get("session_timeout_ms", SESSION_TIMEOUT_MS)
        self._processing_ms_max = options.get("processing_ms_max", PROCESSING_MS_MAX)
        self._outage_ms_max = options.get("outage_ms_max")
        self._coordinator = Coordinator(cluster, group, f"{name} group")
        self._fetcher = Fetcher(cluster, tasks, topic, name, self._outage_ms_max)
        self._membership = OUTSIDE
        self._assigned: tuple[int, ...] = ()
        self._must_join = True
        self._finished: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        self._unread: Iterator[list[ReceivedRecord]] = iter(())
        self._failure: ClientError | None = None
        self._is_beating = False
        self._is_closed = False
        # When somebody last asked for records; None while somebody waits for them.
        self._asked_ms: int | None = None

    @property
    def is_stale(self) -> bool:
        return self._must_join

    async def open(self) -> None:
        """Only makes sure that there is such a topic: the group decides where to begin."""
        await self._cluster.topic(self._topic, self._cluster.deadline())

    async def chunk(self) -> list[ReceivedRecord] | Rebalance:
        timeout_ms = self._options.get("timeout_ms")
        self._asked_ms = None
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                return await self._chunk()
        except TimeoutError:
            return []
        finally:
            self._asked_ms = self._clock.monotonic_ms()

    def finished(self, record: ReceivedRecord) -> None:
        self._finished[record.partition] = record.offset + 1

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._fetcher.close()
        deadline = self._cluster.deadline(LEAVE_MS_MAX)
        # Otherwise the group notices that we are gone, and goes on from what it had before.
        with suppress(ClientError, ConnectionLost, MustRejoin):
            await self._commit(deadline)
            if self._membership != OUTSIDE:
                await self._coordinator.leave(self._membership, deadline)
        self._cluster.close_purpose(f"{self._name} group")

    async def _chunk(self) -> list[ReceivedRecord] | Rebalance:
        while not self._is_closed:
            if self._failure is not None:
                raise self._failure
            if self._must_join:
                return await self._rebalance()
            records = next(self._unread, None)
            if records is None:
                fetched = await self._fetcher.next(None)
                if fetched:
                    self._unread = (each for part in fetched for each in chunks(self._topic, part))
            elif records:
                return records
        return []

    async def _rebalance(self) -> Rebalance:
        """Gives up what we have, if anything; or joins, and gives what we got."""
        if self._assigned:
            # What cannot be committed is read again, by whoever gets it.
            with suppress(ClientError, ConnectionLost, MustRejoin):
                await self._commit(self._cluster.deadline(LEAVE_MS_MAX))
            revoked, self._assigned = self._assigned, ()
            self._unread = iter(())
            self._fetcher.read_from({})
            return Rebalance(self._topic, revoked=revoked)
        positions = await self._join()
        self._finished = {}
        self._committed = {}
        self._assigned = tuple(sorted(positions))
        self._must_join = False
        self._fetcher.read_from(positions)
        if not self._is_beating:
            self._is_beating = True
            self._tasks.start(f"{self._name} heartbeat", self._beat)
        return Rebalance(self._topic, assigned=self._assigned)

    async def _join(self) -> dict[int, int]:
        backoff = self._cluster.backoff()
        outage = (
            None if self._outage_ms_max is None else self._cluster.deadline(self._outage_ms_max)
        )
        while True:
            try:
                joined = await self._coordinator.join(
                    self._topic,
                    self._membership.member_id,
                    self._session_timeout_ms,
                    self._processing_ms_max,
                )
                self._membership = joined.membership
                share = await self._coordinator.sync(
                    joined.membership, await self._shares(joined), self._processing_ms_max
                )
                return await self._positions(read_assignment(share).get(self._topic, []))
            except MustRejoin as outdated:
                if outdated.is_unknown:
                    self._membership = OUTSIDE
            except (ConnectionLost, Unreachable, TimedOut) as trouble:
                if outage is not None and outage.has_passed:
                    raise Unreachable(str(trouble)) from None
                await self._clock.sleep_ms(backoff.next_ms())

    async def _shares(self, joined: Joined) -> dict[str, bytes]:
        deadline = self._cluster.deadline()
        counts = {}
        for topic in {topic for member in joined.members for topic in member.topics}:
            # Another member's topic may be gone; then there is nothing of it to share.
            with suppress(UnknownTopic):
                counts[topic] = len((await self._cluster.topic(topic, deadline)).partitions)
        shares = share_by_range(joined.members, counts)
        return {member_id: write_assignment(share) for member_id, share in shares.items()}

    async def _positions(self, partitions: list[int]) -> dict[int, int]:
        if not partitions:
            return {}
        deadline = self._cluster.deadline()
        wanted = {self._topic: partitions}
        done = (await committed(self._coordinator, wanted, deadline)).get(self._topic, {})
        positions: dict[int, int] = {}
        if new := [partition for partition in partitions if partition not in done]:
            start = self._options.get("start", "latest")
            positions = await find(self._cluster, self._topic, start, new, deadline)
        if done:
            # What was committed may have been deleted since, by retention.
            earliest = await find(self._cluster, self._topic, "earliest", list(done), deadline)
            positions |= {each: max(offset, earliest[each]) for each, offset in done.items()}
        return positions

    async def _commit(self, deadline: Deadline) -> None:
        finished = dict(self._finished)
        if self._membership != OUTSIDE and finished != self._committed:
            await commit(self._coordinator, self._membership, self._topic, finished, deadline)
            self._committed = finished

    async def _beat(self) -> None:
        while not self._is_closed:
            await self._clock.sleep_ms(min(BEAT_MS, self._session_timeout_ms // 3))
            if self._must_join or self._is_closed or self._is_stuck():
                continue
            membership = self._membership
            try:
                await self._coordinator.heartbeat(membership)
                await self._commit(self._cluster.deadline())
            except MustRejoin as outdated:
                if membership == self._membership:
                    self._membership = OUTSIDE if outdated.is_unknown else membership
                    self._must_join = True
                    self._fetcher.interrupt()
            except (ConnectionLost, Unreachable, TimedOut):
                # The session outlives a few missed beats; if it does not, the next one tells.
                continue
            except ClientError as error:
                self._failure = error
                self._fetcher.interrupt()

    def _is_stuck(self) -> bool:
        """Whether one record takes so long that somebody else had better read on."""
        if self._asked_ms is None:
            return False
        return self._clock.monotonic_ms() - self._asked_ms > self._processing_ms_max
