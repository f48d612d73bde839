"""What a broker can do, in our own words."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from riverlog.broker.admission import admit, admits_all
from riverlog.broker.errors import (
    FencedEpoch,
    InternalTopic,
    UnknownEpoch,
    UnknownTopic,
    UnknownTopicId,
)
from riverlog.broker.internal_topics import INTERNAL_TOPICS, OFFSETS_CONFIGS, OFFSETS_TOPIC
from riverlog.broker.metadata import Metadata
from riverlog.broker.opening import Opened, Opening
from riverlog.broker.topic_configs import check, settings_from
from riverlog.broker.topic_files import TopicCopies, TopicFiles
from riverlog.broker.world import World as World
from riverlog.cluster.metadata_log import MetadataLog
from riverlog.cluster.topics import TopicCreated, TopicDeleted, TopicExists, TopicFact, Topics
from riverlog.config import BrokerSettings
from riverlog.groups.settings import GroupSettings
from riverlog.log.batches import Batches
from riverlog.log.commit import GroupCommit
from riverlog.log.damage import Damage
from riverlog.log.journal import DIRECTORY_NAME as JOURNAL_DIRECTORY
from riverlog.log.journal import Journal, JournalLimits
from riverlog.log.partition import Appended, Partition
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.records.crc import Buffer
from riverlog.runtime.chance import Chance
from riverlog.runtime.clock import Clock
from riverlog.runtime.open_files import open_files_max
from riverlog.stores.handles import Handles

if TYPE_CHECKING:
    from riverlog.broker.coordinator import Coordinator
    from riverlog.broker.disk_use import DiskUse
    from riverlog.broker.housekeeping import Housekeeping
    from riverlog.broker.topic_changes import TopicChanges

NODE_ID = 1

# What a broker makes in its data directory.
DATA_NAMES = frozenset({"metadata", "topics", JOURNAL_DIRECTORY})
OPEN_FILES_MAX = 512
# Of all files that may be open, so many of so many are for partitions that the journal is ahead of.
JOURNAL_SHARE = 8
JOURNAL_LIMITS = JournalLimits()
_EPOCH_MAX = 2**31 - 1


class Broker:
    """One node. All of its state belongs to one event loop; `open` makes one."""

    def __init__(
        self, world: World, root: str, defaults: LogSettings, settings: BrokerSettings
    ) -> None:
        self._world = world
        self.defaults = defaults
        self.settings = settings
        self.group_settings = GroupSettings()
        self._coordinator: Coordinator | None = None
        self._housekeeping: Housekeeping | None = None
        self._has_damage = False
        self.root = root
        self._journal: Journal | None = None
        if world.has_costly_syncs:
            behind_max = min(JOURNAL_LIMITS.behind_max, open_files_max() // JOURNAL_SHARE)
            limits = JOURNAL_LIMITS._replace(behind_max=behind_max)
            self._journal = Journal(world.disk, world.syncer, world.chance, root, limits)
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
        self._copies = TopicCopies(self._files, world.syncer)
        self.opening = Opening(world.syncer)
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
        group_settings: GroupSettings | None = None,
    ) -> "Broker":
        """A broker over the data directory `root`, which must exist; ready when it returns."""
        broker = cls(world, root, defaults or LogSettings(), settings or BrokerSettings())
        broker.group_settings = group_settings or GroupSettings()
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
    def coordinator(self) -> "Coordinator":
        """The consumer groups; what there is of them is read when they are first asked for."""
        if self._coordinator is None:
            # Imported late: no start waits for it.
            from riverlog.broker.coordinator import Coordinator
            from riverlog.broker.offsets_topic import OffsetsTopic

            world = self._world
            topic = OffsetsTopic(self, world.clock)
            self._coordinator = Coordinator(topic, world.clock, world.chance, self.group_settings)
            self._coordinator.start()
        return self._coordinator

    @property
    def changes(self) -> "TopicChanges":
        """What may be changed about topics that exist."""
        from riverlog.broker.topic_changes import TopicChanges

        return TopicChanges(self._metadata, self.defaults)

    @property
    def disk_use(self) -> "DiskUse":
        """How much of the disk is taken, and by whom."""
        from riverlog.broker.disk_use import DiskUse

        return DiskUse(self._world.disk, self._world.syncer, self._world.space, self.root)

    @property
    def housekeeping(self) -> "Housekeeping":
        """What lets old segments go; made when it is first asked for."""
        if self._housekeeping is None:
            from riverlog.broker.housekeeping import Housekeeping

            self._housekeeping = Housekeeping(self, self._partitions, self._files, self._shared)
        return self._housekeeping

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
        check(configs)
        return await self._metadata.create_topic(name, partition_count, configs)

    def check_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Raises what `create_topic` would raise, and changes nothing."""
        check(configs)
        self._metadata.check_topic(name, partition_count, configs)

    async def ensure_topic(self, name: str) -> TopicCreated:
        """The topic of this name, made with the defaults if there is none; durable either way.

        Raises what `create_topic` raises, except that the topic exists: whoever else makes it at
        the same time is waited for.
        """
        while (topic := self.topics.by_name(name)) is None:
            try:
                if name == OFFSETS_TOPIC:
                    count = self.group_settings.partition_count
                    return await self.create_topic(name, count, OFFSETS_CONFIGS)
                return await self.create_topic(name, self.settings.num_partitions, {})
            except TopicExists:
                await self._metadata.settled()
        return topic

    async def delete_topic(self, topic_id: bytes) -> None:
        """Ends a topic: the fact first, then those who wait are told, then the files go.

        Raises `InternalTopic` for one that others depend on.
        """
        topic = self.topics.by_id(topic_id)
        if topic is not None and topic.name in INTERNAL_TOPICS:
            raise InternalTopic(f"topic '{topic.name}' is the broker's own")
        await self._metadata.delete_topic(topic_id)
        if topic is not None and self.topics.by_name(OFFSETS_TOPIC) is not None:
            self.coordinator.forget_topic(topic.name)

    def topic(self, name: str) -> TopicCreated:
        """Raises `UnknownTopic`."""
        topic = self.topics.by_name(name)
        if topic is None:
            raise UnknownTopic(f"there is no topic '{name}'")
        return topic

    def writable_topic(self, name: str) -> TopicCreated:
        """A topic that clients may write to; raises `UnknownTopic` or `InternalTopic`."""
        if name in INTERNAL_TOPICS:
            raise InternalTopic(f"topic '{name}' is the broker's own")
        return self.topic(name)

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
                settings_from(topic.configs, self.defaults),
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

    def opens_apart(self, partition: Partition, batch: Buffer) -> bool:
        """Whether a batch has to be given to `opening` before it may be appended."""
        return "compact" in partition.settings.cleanup_policy and self.opening.takes(batch)

    def append(self, partition: Partition, batch: Buffer, opened: Opened | None = None) -> Appended:
        """Checks what a producer sent and appends it; `Partition.durable` tells when it is safe.

        Raises what `admit` and `Partition.append` raise, and why it may not be if it was `opened`;
        nothing was appended then.
        """
        now_ms = self._world.clock.now_ms()
        header = admit(batch, partition.settings, now_ms, has_keys=opened is not None)
        if opened is not None and opened.error is not None:
            raise opened.error
        return partition.append(batch, header, now_ms)

    def append_all(self, partition: Partition, batches: Batches) -> int | None:
        """Like `append` for several sound batches: where they end, None if not all are taken."""
        now_ms = self._world.clock.now_ms()
        if not admits_all(batches, partition.settings, now_ms):
            return None
        return partition.append_all(batches, now_ms)

    def gather(self) -> None:
        """Leaves it to `commit_soon`, which is to follow in this callback, to make durable."""
        self._shared.commit.gather()

    def commit_soon(self) -> None:
        """Begins to make durable what was appended, unless more may come in this turn."""
        self._shared.commit.begin_if_quiet()

    def on_committed(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Calls back with every group commit, before and after those who waited for it are told."""
        self._shared.commit.before_telling.append(before)
        self._shared.commit.after_round.append(after)

    async def new_producer_id(self) -> int:
        """An id that no producer was ever given."""
        return await self._metadata.new_producer_id()

    # Start and end.

    def stop_waiting(self) -> None:
        """Answers consumers that wait for more with what there is: the broker is about to stop."""
        self.is_stopping = True
        for partition in self._partitions.values():
            partition.waiting.wake()
        if self._coordinator is not None:
            self._coordinator.stop_waiting()

    async def close(self) -> None:
        """Everything is durable and at rest when it returns; raises `OSError`."""
        if self._coordinator is not None:
            await self._coordinator.close()
        for partition in self._partitions.values():
            partition.is_closed = True
        await self._shared.commit.idle()
        while self._journal is not None and not self._journal.is_idle:
            await self._journal.idle()
            # Catching up may have asked for another round, and that one for more.
            await self._shared.commit.idle()
        self._copies.close()
        self.opening.close()
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
        if self._world.disk.exists(f"{self.root}/{JOURNAL_DIRECTORY}"):
            from riverlog.log.replay import Replay

            Replay(self._world.disk, self.root, self._directory_of, self._report).run()
        if self._has_damage:
            epoch_seen, producer_id_seen = self._seen_in_partitions()
        await self._metadata.start(epoch_seen, producer_id_seen)
        for topic in self.topics:
            with suppress(OSError):
                if self._files.read(topic.topic_id, self._report) != topic:
                    self._files.note(topic)
        self._metadata.applied = self._topic_changed

    def _topic_changed(self, fact: TopicFact) -> None:
        """A fact about a topic is durable: it takes effect at once, and then on the disk."""
        if isinstance(fact, TopicDeleted):
            for key in [key for key in self._partitions if key[0] == fact.topic_id]:
                self._partitions.pop(key).abandon()
            self._copies.remove(fact.topic_id)
        elif (topic := self.topics.by_id(fact.topic_id)) is not None:
            settings = settings_from(topic.configs, self.defaults)
            for index in range(topic.partition_count):
                if (partition := self._partitions.get((topic.topic_id, index))) is not None:
                    partition.settings = settings
            self._copies.keep(topic)

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
