"""What a broker does on its own, now and then: old segments go, silent producers are forgotten."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from riverlog.broker.internal_topics import INTERNAL_TOPICS
from riverlog.broker.topic_configs import settings_from
from riverlog.broker.topic_files import TopicFiles
from riverlog.cluster.topics import TopicCreated, Topics
from riverlog.config import BrokerSettings
from riverlog.log.beginning import remove_files
from riverlog.log.partition import Partition
from riverlog.log.retention import NEVER_MS
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.log.surveying import due_ms
from riverlog.runtime.clock import Clock
from riverlog.runtime.logs import get
from riverlog.stores.syncer import apart

log = get(__name__)

PartitionKey = tuple[bytes, int]

# So many partitions are looked at before others get their turn.
LOOKED_AT_ONCE = 64
# A file that somebody still reads is left for so long before it is looked at again.
READ_ON_MS = 1_000
# What has to be written down before a segment can go is there by then.
AGAIN_MS = 1_000
# By so much the clock may be set while it counts as running evenly.
UNEVEN_MS = 1_000


class Kept(Protocol):
    """The broker, as far as its housekeeping is concerned."""

    settings: BrokerSettings
    defaults: LogSettings

    @property
    def clock(self) -> Clock: ...

    @property
    def topics(self) -> Topics: ...

    def partition(self, topic: TopicCreated, index: int) -> Partition: ...


class _Gone(NamedTuple):
    """A segment that has left its log, and when, by the monotonic clock, its files will go."""

    due_ms: int
    topic_id: bytes
    directory: str
    base_offset: int
    path: str


class _Resting(NamedTuple):
    """A partition that nobody has used since the broker started."""

    topic: TopicCreated
    number: int
    settings: LogSettings

    @property
    def key(self) -> PartitionKey:
        return self.topic.topic_id, self.number


class Housekeeping:
    """Goes through all partitions of a broker; `opened` are those that somebody has used.

    Of the others only names and small files are looked at, and only those are opened in which
    something has to go. Of the broker's own topics only what stands before their start goes: the
    broker itself decides when that is.
    """

    def __init__(
        self,
        broker: Kept,
        opened: Mapping[PartitionKey, Partition],
        files: TopicFiles,
        shared: Shared,
    ) -> None:
        self._broker = broker
        self._opened = opened
        self._files = files
        self._shared = shared
        self._gone: list[_Gone] = []
        self._again: list[tuple[TopicCreated, int, Partition]] = []
        # The time of the last pass, by both clocks; there was none yet.
        self._passed = (-NEVER_MS, 0)
        self._even_since_ms = NEVER_MS
        # Until when those that are not open may be left alone, under which settings.
        self._rests: dict[PartitionKey, tuple[LogSettings, int]] = {}

    async def run(self) -> None:
        """Passes every so often, for ever."""
        clock, interval_ms = self._broker.clock, self._broker.settings.retention_check_ms
        passed_ms = clock.monotonic_ms()
        while True:
            next_ms = passed_ms + interval_ms
            again_ms = passed_ms + AGAIN_MS if self._again else next_ms
            wake_at_ms = min([next_ms, again_ms, *(gone.due_ms for gone in self._gone)])
            await clock.sleep_ms(max(wake_at_ms - clock.monotonic_ms(), 1))
            if clock.monotonic_ms() >= next_ms:
                await self.tidy(clock.now_ms())
                passed_ms = clock.monotonic_ms()
            elif clock.monotonic_ms() >= again_ms:
                await self.tidy_again(clock.now_ms())
            await self.remove_files()

    async def tidy(self, now_ms: int) -> None:
        """One pass: what has had its time by `now_ms` has left the logs when it returns."""
        self._again = []
        self._compare_clocks(now_ms)
        resting: list[_Resting] = []
        looked_at = 0
        for topic in list(self._broker.topics):
            settings = settings_from(topic.configs, self._broker.defaults)
            if topic.name in INTERNAL_TOPICS and settings.deletes:
                continue
            for index in range(topic.partition_count):
                partition = self._opened.get((topic.topic_id, index))
                if partition is None:
                    resting.append(_Resting(topic, index, settings))
                else:
                    await self.tidy_one(topic, index, partition, now_ms)
                looked_at += 1
                if looked_at % LOOKED_AT_ONCE == 0:
                    await self._broker.clock.sleep_ms(0)
        await self._wake(resting, now_ms)

    def _compare_clocks(self, now_ms: int) -> None:
        """Since the last pass, has the clock run as far as the one that nobody can set?"""
        at_ms, monotonic_ms = now_ms, self._broker.clock.monotonic_ms()
        before_ms, monotonic_before_ms = self._passed
        ran_ms = monotonic_ms - monotonic_before_ms
        is_even = abs(at_ms - before_ms - ran_ms) <= UNEVEN_MS + ran_ms // 100
        self._even_since_ms = before_ms if is_even else NEVER_MS
        self._passed = at_ms, monotonic_ms

    async def tidy_again(self, now_ms: int) -> None:
        """Ends the pass where something had to wait; what still has to, waits for the next one."""
        again, self._again = self._again, []
        for topic, index, partition in again:
            await self.tidy_one(topic, index, partition, now_ms)
        self._again = []

    async def tidy_one(
        self, topic: TopicCreated, index: int, partition: Partition, now_ms: int
    ) -> None:
        """A pass over one partition."""
        partition.producers.expire(now_ms, self._broker.settings.producer_expiration_ms)
        try:
            segments = await partition.retire(now_ms, self._even_since_ms)
        except OSError as error:
            log.warning("segments stay", topic=topic.name, partition=index, reason=error.strerror)
            return
        # Where any has gone already, another would be one too many by time.
        if partition.has_to_wait and not segments:
            self._again.append((topic, index, partition))
        due_ms = self._broker.clock.monotonic_ms() + partition.settings.file_delete_delay_ms
        for segment in segments:
            log.info(
                "segment removed",
                topic=topic.name,
                partition=index,
                base_offset=segment.base_offset,
                size_bytes=segment.size_bytes,
                log_start_offset=partition.log_start_offset,
            )
            self._gone.append(
                _Gone(due_ms, topic.topic_id, segment.directory, segment.base_offset, segment.path)
            )

    async def remove_files(self) -> None:
        """Removes the files whose grace is over and that nobody reads."""
        now_ms, handles = self._broker.clock.monotonic_ms(), self._shared.handles
        due: dict[str, set[int]] = {}
        left: list[_Gone] = []
        for gone in self._gone:
            if gone.due_ms > now_ms:
                left.append(gone)
            elif handles.is_lent(gone.path):
                left.append(gone._replace(due_ms=now_ms + READ_ON_MS))
            else:
                handles.drop(gone.path)
                # The files of a topic that is no more go all at once, and not from here.
                if self._broker.topics.by_id(gone.topic_id) is not None:
                    due.setdefault(gone.directory, set()).add(gone.base_offset)
        self._gone = left
        for directory, base_offsets in due.items():
            await self._remove(directory, base_offsets)

    async def _wake(self, resting: Sequence[_Resting], now_ms: int) -> None:
        """Opens those of the partitions at rest in which something has to go."""
        rests, self._rests = self._rests, {}
        asked: list[_Resting] = []
        for one in resting:
            known = rests.get(one.key)
            if known is not None and known[0] == one.settings and now_ms <= known[1]:
                self._rests[one.key] = known
            else:
                asked.append(one)
        for first in range(0, len(asked), LOOKED_AT_ONCE):
            some = asked[first : first + LOOKED_AT_ONCE]
            for one, until_ms in zip(some, await self._survey(some), strict=True):
                if now_ms <= until_ms:
                    self._rests[one.key] = one.settings, until_ms
                elif self._broker.topics.by_id(one.topic.topic_id) is not None:
                    await self._open_and_tidy(one.topic, one.number, now_ms)

    async def _survey(self, asked: Iterable[_Resting]) -> list[int]:
        disk = self._shared.disk
        wanted = [(self._files.partition_directories(*one.key)[-1], one.settings) for one in asked]
        found: list[int] = []

        def look() -> None:
            found.extend(due_ms(disk, directory, settings) for directory, settings in wanted)

        await apart(self._shared.syncer, look)
        return found

    async def _open_and_tidy(self, topic: TopicCreated, index: int, now_ms: int) -> None:
        try:
            partition = self._broker.partition(topic, index)
        except OSError as error:
            log.warning("segments stay", topic=topic.name, partition=index, reason=error.strerror)
            return
        await self.tidy_one(topic, index, partition, now_ms)

    async def _remove(self, directory: str, base_offsets: set[int]) -> None:
        disk = self._shared.disk
        try:
            await apart(self._shared.syncer, lambda: remove_files(disk, directory, base_offsets))
        except OSError as error:
            # The next start finds and removes them.
            log.warning("files stay", directory=directory, reason=error.strerror)
