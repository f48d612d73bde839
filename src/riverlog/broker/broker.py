"""What a broker can do, in our own words."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from riverlog.broker.errors import (
    FencedEpoch,
    InvalidTimestamp,
    InvalidTransaction,
    RecordsTooLarge,
    UnknownEpoch,
    UnknownTopic,
    UnknownTopicId,
)
from riverlog.broker.metadata import Metadata
from riverlog.broker.topic_configs import ConfigInEffect, in_effect, settings_from
from riverlog.broker.topic_files import TopicFiles
from riverlog.cluster.metadata_log import MetadataLog
from riverlog.cluster.topics import TopicCreated, TopicExists, Topics
from riverlog.config import BrokerSettings
from riverlog.log.commit import GroupCommit
from riverlog.log.damage import Damage
from riverlog.log.journal import Journal, JournalLimits
from riverlog.log.partition import Appended, Partition
from riverlog.log.replay import Replay
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared, Trouble, no_trouble
from riverlog.records.batch import check_produced
from riverlog.records.crc import Buffer
from riverlog.runtime.chance import Chance
from riverlog.runtime.clock import Clock
from riverlog.stores.disk import Disk
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import Syncer

NODE_ID = 1

# What a broker makes in its data directory.
DATA_NAMES = frozenset({"metadata", "topics", "journal"})
OPEN_FILES_MAX = 512
JOURNAL_LIMITS = JournalLimits()
_EPOCH_MAX = 2**31 - 1


class World(NamedTuple):
    """The outside, as a broker sees it.

    `has_costly_syncs` says that one sync for many partitions is worth a journal: not in memory.
    """

    disk: Disk
    syncer: Syncer
    clock: Clock
    chance: Chance
    report: Callable[[Damage], None]
    trouble: Trouble = no_trouble
    has_costly_syncs: bool = True


class Broker:
    """One node. All of its state belongs to one event loop; `open` makes one."""

    def __init__(
        self, world: World, root: str, defaults: LogSettings, settings: BrokerSettings
    ) -> None:
        self._world = world
        self._defaults = defaults
        self.settings = settings
        self._has_damage = False
        self._root = root
        self._journal: Journal | None = None
        if world.has_costly_syncs:
            self._journal = Journal(world.disk, world.syncer, world.chance, root, JOURNAL_LIMITS)
        self._shared = Shared(
            world.disk,
            Handles(world.disk, OPEN_FILES_MAX),
            GroupCommit(world.syncer, self._journal),
            world.syncer,
            self._report,
            world.trouble,
            self._journal,
        )
        self._files = TopicFiles(world.disk, root)
        self._metadata_directory = f"{root}/metadata"
        partition = Partition(
            self._shared,
            [root, self._metadata_directory],
            # Every fact is covered by a checkpoint as soon as can be: if the file is cut, it shows.
            LogSettings(checkpoint_bytes=1),
            leader_epoch=0,
            epoch_max=0,
        )
        self._metadata = Metadata(MetadataLog(partition, world.clock), world.chance)
        self._partitions: dict[tuple[bytes, int], Partition] = {}
        self.node_id = NODE_ID
        self.is_stopping = False

    @classmethod
    async def open(
        cls,
        world: World,
        root: str,
        defaults: LogSettings | None = None,
        settings: BrokerSettings | None = None,
    ) -> "Broker":
        """A broker over the data directory `root`, which must exist; ready when it returns."""
        broker = cls(world, root, defaults or LogSettings(), settings or BrokerSettings())
        await broker._start()
        return broker

    @property
    def cluster_id(self) -> str:
        return self._metadata.cluster_id

    @property
    def leader_epoch(self) -> int:
        """The epoch at which this broker leads every partition, since its last start."""
        return self._metadata.epoch

    @property
    def topics(self) -> Topics:
        """The topics there are; look, do not apply."""
        return self._metadata.topics

    @property
    def clock(self) -> Clock:
        return self._world.clock

    @property
    def chance(self) -> Chance:
        return self._world.chance

    # Topics.

    async def create_topic(
        self, name: str, partition_count: int, configs: Mapping[str, str]
    ) -> TopicCreated:
        """Makes a topic, durably; raises why not."""
        settings_from(configs, self._defaults)
        topic = await self._metadata.create_topic(name, partition_count, configs)
        # Only a copy of the fact: if it fails, the next start leaves it.
        self._world.syncer.run_apart(lambda: self._files.note(topic), lambda _outcomes: None)
        return topic

    def check_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Raises what `create_topic` would raise, and changes nothing."""
        settings_from(configs, self._defaults)
        self._metadata.check_topic(name, partition_count, configs)

    async def ensure_topic(self, name: str) -> TopicCreated:
        """The topic of this name, made with the defaults if there is none; durable either way.

        Raises what `create_topic` raises, except that the topic exists: whoever else makes it at
        the same time is waited for.
        """
        while (topic := self.topics.by_name(name)) is None:
            try:
                return await self.create_topic(name, self.settings.num_partitions, {})
            except TopicExists:
                await self._metadata.settled()
        return topic

    def configs_in_effect(self, configs: Mapping[str, str]) -> list[ConfigInEffect]:
        """The settings of a topic that was given `configs`, defaults included, by name."""
        return in_effect(configs, self._defaults)

    async def delete_topic(self, topic_id: bytes) -> None:
        """Ends a topic: the fact first, then those who wait are told, then the files go."""
        await self._metadata.delete_topic(topic_id)
        for key in [key for key in self._partitions if key[0] == topic_id]:
            self._partitions.pop(key).abandon()
        # The topic is gone already: files that cannot be removed now go at the next start.
        self._world.syncer.run_apart(lambda: self._files.remove(topic_id), lambda _outcomes: None)

    def topic(self, name: str) -> TopicCreated:
        """Raises `UnknownTopic`."""
        topic = self.topics.by_name(name)
        if topic is None:
            raise UnknownTopic(f"there is no topic '{name}'")
        return topic

    def topic_by_id(self, topic_id: bytes) -> TopicCreated:
        """Raises `UnknownTopicId`."""
        topic = self.topics.by_id(topic_id)
        if topic is None:
            raise UnknownTopicId("there is no topic with this id")
        return topic

    def partition(self, topic: TopicCreated, index: int) -> Partition:
        """A partition's log, opened (and after a crash recovered) when it is first asked for."""
        partition = self._partitions.get((topic.topic_id, index))
        if partition is None:
            if not 0 <= index < topic.partition_count:
                raise UnknownTopic(f"topic '{topic.name}' has no partition {index}")
            partition = Partition(
                self._shared,
                self._files.partition_directories(topic.topic_id, index),
                settings_from(topic.configs, self._defaults),
                leader_epoch=self.leader_epoch,
                epoch_max=_EPOCH_MAX if self._has_damage else self.leader_epoch - 1,
                journal_key=topic.topic_id + index.to_bytes(4),
            )
            self._partitions[topic.topic_id, index] = partition
        return partition

    def led_partition(self, topic: TopicCreated, index: int, epoch: int) -> Partition:
        """`partition`, for a client to which it is led at `epoch`; -1 when it does not say.

        Raises `FencedEpoch` when the client is behind, `UnknownEpoch` when it is ahead.
        """
        partition = self.partition(topic, index)
        if 0 <= epoch < self.leader_epoch:
            raise FencedEpoch(f"this broker leads at epoch {self.leader_epoch}, not {epoch}")
        if epoch > self.leader_epoch:
            raise UnknownEpoch(f"this broker leads at epoch {self.leader_epoch}, not yet {epoch}")
        return partition

    # Records.

    def append(self, partition: Partition, batch: Buffer) -> Appended:
        """Checks what a producer sent and appends it; `Partition.durable` tells when it is safe.

        Raises `BatchError`, `RecordsTooLarge`, `InvalidTimestamp`, `InvalidTransaction`, and what
        `Partition.append` raises; nothing was appended then.
        """
        settings = partition.settings
        header = check_produced(batch)
        if header.size_bytes > settings.message_bytes_max:
            raise RecordsTooLarge(
                f"a batch of {header.size_bytes} bytes; the topic takes "
                f"{settings.message_bytes_max} at most"
            )
        if header.is_transactional:
            raise InvalidTransaction("transactions are not served here")
        now_ms = self._world.clock.now_ms()
        if not settings.uses_append_time:
            if header.max_timestamp_ms > now_ms + settings.timestamp_after_ms_max:
                raise InvalidTimestamp(f"time {header.max_timestamp_ms} lies in the future")
            if header.base_timestamp_ms < now_ms - settings.timestamp_before_ms_max:
                raise InvalidTimestamp(f"time {header.base_timestamp_ms} lies too far back")
        return partition.append(batch, header, now_ms)

    def commit_soon(self) -> None:
        """Begins to make durable what was appended, unless more may come in this turn."""
        self._shared.commit.begin_if_quiet()

    def on_committed(self, callback: Callable[[], None]) -> None:
        """Calls back after every group commit, when those who waited for it have been told."""
        self._shared.commit.after_round.append(callback)

    async def new_producer_id(self) -> int:
        """An id that no producer was ever given."""
        return await self._metadata.new_producer_id()

    # Start and end.

    def stop_waiting(self) -> None:
        """Answers consumers that wait for more with what there is: the broker is about to stop."""
        self.is_stopping = True
        for partition in self._partitions.values():
            partition.waiting.wake()

    async def close(self) -> None:
        """Everything is durable and at rest when it returns; raises `OSError`."""
        for partition in self._partitions.values():
            partition.is_closed = True
        await self._shared.commit.idle()
        if self._journal is not None:
            await self._journal.idle()
            await self._shared.commit.idle()
        self._world.syncer.close()
        for partition in self._partitions.values():
            partition.close()
        if self._journal is not None:
            self._journal.close()
        self._metadata.close()
        self._shared.handles.close()

    async def _start(self) -> None:
        epoch_seen, producer_id_seen = 0, -1
        for topic_id in self._files.topic_ids():
            if self.topics.was_deleted(topic_id):
                with suppress(OSError):
                    self._files.remove(topic_id)
            elif self.topics.by_id(topic_id) is None:
                # Its fact is gone, its files are not: unknown metadata never deletes anything.
                self._has_damage = True
                topic = self._files.read(topic_id, self._report)
                if topic is not None:
                    await self._metadata.adopt_topic(topic)
        Replay(self._world.disk, self._root, self._directory_of, self._report).run()
        if self._has_damage:
            epoch_seen, producer_id_seen = self._seen_in_partitions()
        await self._metadata.start(epoch_seen, producer_id_seen)
        for topic in self.topics:
            with suppress(OSError):
                if self._files.read(topic.topic_id, self._report) is None:
                    self._files.note(topic)

    def _directory_of(self, journal_key: bytes) -> str | None:
        """Where a partition lies that the journal tells of; None if its topic was deleted."""
        topic_id, index = journal_key[:16], int.from_bytes(journal_key[16:])
        if self.topics.was_deleted(topic_id):
            return None
        return self._files.partition_directories(topic_id, index)[-1]

    def _seen_in_partitions(self) -> tuple[int, int]:
        """The largest epoch and producer id: the metadata log may have forgotten some."""
        epoch, producer_id = 0, -1
        for topic in self.topics:
            for index in range(topic.partition_count):
                partition = self.partition(topic, index)
                epoch = max(epoch, partition.epochs.latest)
                producer_id = max([producer_id, *(known for known, _ in partition.producers)])
                partition.abandon()
        self._partitions.clear()
        return epoch, producer_id

    def _report(self, damage: Damage) -> None:
        if damage.path.startswith(self._metadata_directory):
            self._has_damage = True
        self._world.report(damage)
