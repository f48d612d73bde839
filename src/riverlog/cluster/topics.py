"""Topics: what may be called one, which there are, and the facts that make and end them. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

NAME_LENGTH_MAX = 249
PARTITIONS_MAX = 100_000
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class InvalidTopicName(Exception):
    """The name cannot be a topic's; the message says why."""


class TopicExists(Exception):
    """There is a topic of this name already."""


class InvalidPartitionCount(Exception):
    """A topic has between one and `PARTITIONS_MAX` partitions."""


class TopicCreated(NamedTuple):
    """A topic came into being. Everything inside is keyed by its id, never by its name."""

    topic_id: bytes
    name: str
    partition_count: int
    configs: Mapping[str, str]


class TopicDeleted(NamedTuple):
    """A topic ended; a new one of the same name has another id."""

    topic_id: bytes


TopicFact = TopicCreated | TopicDeleted


def check_name(name: str) -> None:
    """Raises `InvalidTopicName` with the reason, or returns."""
    if not name:
        raise InvalidTopicName("a topic name may not be empty")
    if name in (".", ".."):
        raise InvalidTopicName("a topic name may not be '.' or '..'")
    if len(name) > NAME_LENGTH_MAX:
        raise InvalidTopicName(f"a topic name has at most {NAME_LENGTH_MAX} characters")
    if not _LEGAL_NAME.fullmatch(name):
        raise InvalidTopicName("a topic name has only letters, digits, '.', '_' and '-'")


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
            raise InvalidTopicName(
                f"'{name}' differs from topic '{twin}' only in '.' and '_', which tools mix up"
            )
        if not 1 <= partition_count <= PARTITIONS_MAX:
            raise InvalidPartitionCount(
                f"a topic has 1 to {PARTITIONS_MAX} partitions, not {partition_count}"
            )
        return TopicCreated(topic_id, name, partition_count, dict(configs))

    def apply(self, fact: TopicFact) -> None:
        match fact:
            case TopicCreated():
                self._by_name[fact.name] = fact
                self._by_id[fact.topic_id] = fact
                self._by_metric_name[_metric_name(fact.name)] = fact.name
            case TopicDeleted():
                self._deleted_ids.add(fact.topic_id)
                topic = self._by_id.pop(fact.topic_id, None)
                # Damage may have taken the end of a topic whose name another one has by now.
                if topic is not None and self._by_name.get(topic.name) is topic:
                    del self._by_name[topic.name]
                    del self._by_metric_name[_metric_name(topic.name)]


def _metric_name(name: str) -> str:
    return name.replace(".", "_")
