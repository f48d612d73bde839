"""The topic that groups are kept in: made at first use, spread over a few logs."""

from collections.abc import Iterator
from typing import Protocol

from riverlog.broker.group_log import GroupLog
from riverlog.broker.internal_topics import OFFSETS_TOPIC
from riverlog.cluster.topics import TopicCreated, Topics
from riverlog.groups.records import partition_of
from riverlog.log.partition import Partition
from riverlog.runtime.clock import Clock


class Home(Protocol):
    """What the topic needs of its broker."""

    @property
    def topics(self) -> Topics:
        """The topics there are."""

    def partition(self, topic: TopicCreated, index: int) -> Partition:
        """A partition's log."""

    async def ensure_topic(self, name: str) -> TopicCreated:
        """The topic of this name, made if there is none."""


class OffsetsTopic:
    """The logs of groups, as far as there are any."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._logs: dict[int, GroupLog] = {}

    @property
    def exists(self) -> bool:
        return self._home.topics.by_name(OFFSETS_TOPIC) is not None

    async def ensure(self) -> None:
        """Exists when it returns, durably; raises what making a topic raises."""
        await self._home.ensure_topic(OFFSETS_TOPIC)

    def log_of(self, group_id: str) -> tuple[int, GroupLog] | None:
        """Where a group is kept, if the topic exists; raises `OSError`."""
        topic = self._home.topics.by_name(OFFSETS_TOPIC)
        if topic is None:
            return None
        index = partition_of(group_id, topic.partition_count)
        return index, self._log(topic, index)

    def logs(self) -> Iterator[tuple[int, GroupLog]]:
        """All logs there are."""
        topic = self._home.topics.by_name(OFFSETS_TOPIC)
        if topic is not None:
            for index in range(topic.partition_count):
                yield index, self._log(topic, index)

    def _log(self, topic: TopicCreated, index: int) -> GroupLog:
        found = self._logs.get(index)
        if found is None:
            found = GroupLog(self._home.partition(topic, index), self._clock)
            self._logs[index] = found
        return found
