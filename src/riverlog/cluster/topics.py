"""Topics: what may be called one, which there are, and the facts that make and end them. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

NAME_LENGTH_MAX = 249
PARTITIONS_MAX = 100_000
Edit = Callable[[Mapping[str, str]], Mapping[str, str]]
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class InvalidTopicName(Exception):
    """The name cannot be a topic's; the message says why."""


class TopicExists(Exception):
    """There is a topic of this name already."""


class InvalidPartitionCount(Exception):
    """A topic has between one and `PARTITIONS_MAX` partitions, and never fewer than before."""


class NoSuchTopic(Exception):
    """What was to be changed is not there."""


class TopicCreated(NamedTuple):
    """A topic came into being. Everything inside is keyed by its id, never by its name.

    Also what a topic is now: as it was created, with the changes since.
    """

    topic_id: bytes
    name: str
    partition_count: int
    configs: Mapping[str, str]


class TopicDeleted(NamedTuple):
    """A topic ended; a new one of the same name has another id."""

    topic_id: bytes


class TopicConfigured(NamedTuple):
    """A topic has these settings of its own from now on, and no others."""

    topic_id: bytes
    configs: Mapping[str, str]


class PartitionsAdded(NamedTuple):
    """A topic has so many partitions from now on, the new ones empty."""

    topic_id: bytes
    partition_count: int


TopicFact = TopicCreated | TopicDeleted | TopicConfigured | PartitionsAdded


def check_name(name: str) -> None:
    """Raises `InvalidTopicName` with the reason, or returns."""
    if not name:
        raise InvalidTopicName("Topic name is invalid: the empty string is not allowed")
    if name in (".", ".."):
        raise InvalidTopicName(f"Topic name is invalid: '{name}' is not allowed")
    if len(name) > NAME_LENGTH_MAX:
        raise InvalidTopicName(
            f"Topic name is invalid: the length of '{name}' is longer than the max allowed length "
            f"{NAME_LENGTH_MAX}"
        )
    if not _LEGAL_NAME.fullmatch(name):
        raise InvalidTopicName(
            f"Topic name is invalid: '{name}' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'"
        )


class Topics:
    """The topics there are. `decide_…` looks, `apply` changes; nothing else does."""

    def __init__(self) -> None:
        self._by_name: dict[str, TopicCreated] = {}
        self._by_id: dict[bytes, TopicCreated] = {}
        self._deleted_ids: set[bytes] = set()
        self._by_metric_name: dict[str, str] = {}

    def __iter__(self) -> Iterator[TopicCreated]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def by_name(self, name: str) -> TopicCreated | None:
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> TopicCreated | None:
        return self._by_id.get(topic_id)

    def was_deleted(self, topic_id: bytes) -> bool:
        return topic_id in self._deleted_ids

    def decide_create(
        self, name: str, topic_id: bytes, partition_count: int, configs: Mapping[str, str]
    ) -> TopicCreated:
        """The fact to make durable and apply, or the reason against it."""
        check_name(name)
        if name in self._by_name:
            raise TopicExists(f"Topic '{name}' already exists.")
        twin = self._by_metric_name.get(_metric_name(name))
        if twin is not None:
            # Tools that turn names into names of metrics would mix them up.
            raise InvalidTopicName(f"Topic '{name}' collides with existing topic: {twin}")
        _check_count(partition_count)
        return TopicCreated(topic_id, name, partition_count, dict(configs))

    def decide_configure(self, name: str, edit: Edit) -> TopicConfigured:
        """The fact that gives a topic the settings that `edit` makes of those it has.

        Raises `NoSuchTopic`, and what `edit` raises.
        """
        topic = self._named(name)
        return TopicConfigured(topic.topic_id, dict(edit(topic.configs)))

    def decide_add_partitions(self, name: str, partition_count: int) -> PartitionsAdded:
        """The fact that gives a topic more partitions, or the reason against it."""
        topic = self._named(name)
        had = topic.partition_count
        if partition_count == had:
            raise InvalidPartitionCount(f"Topic already has {had} partition(s).")
        if partition_count < had:
            raise InvalidPartitionCount(
                f"The topic {name} currently has {had} partition(s); {partition_count} would not "
                "be an increase."
            )
        _check_count(partition_count)
        return PartitionsAdded(topic.topic_id, partition_count)

    def apply(self, fact: TopicFact) -> None:
        match fact:
            case TopicCreated():
                self._by_name[fact.name] = fact
                self._by_id[fact.topic_id] = fact
                self._by_metric_name[_metric_name(fact.name)] = fact.name
            case TopicConfigured():
                self._replace(fact.topic_id, configs=fact.configs)
            case PartitionsAdded():
                self._replace(fact.topic_id, partition_count=fact.partition_count)
            case TopicDeleted():
                self._deleted_ids.add(fact.topic_id)
                topic = self._by_id.pop(fact.topic_id, None)
                # Damage may have taken the end of a topic whose name another one has by now.
                if topic is not None and self._by_name.get(topic.name) is topic:
                    del self._by_name[topic.name]
                    del self._by_metric_name[_metric_name(topic.name)]

    def _named(self, name: str) -> TopicCreated:
        topic = self._by_name.get(name)
        if topic is None:
            raise NoSuchTopic(f"The topic '{name}' does not exist.")
        return topic

    def _replace(self, topic_id: bytes, **changes: Any) -> None:
        topic = self._by_id.get(topic_id)
        # Damage may have taken the beginning of a topic whose changes are still there.
        if topic is not None:
            changed = topic._replace(**changes)
            self._by_id[topic_id] = changed
            if self._by_name.get(topic.name) is topic:
                self._by_name[topic.name] = changed


def _check_count(partition_count: int) -> None:
    if not 1 <= partition_count <= PARTITIONS_MAX:
        raise InvalidPartitionCount(
            f"A topic has 1 to {PARTITIONS_MAX} partitions, not {partition_count}."
        )


def _metric_name(name: str) -> str:
    return name.replace(".", "_")
