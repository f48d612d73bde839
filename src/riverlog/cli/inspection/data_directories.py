"""A whole data directory: its format, its metadata log, its topics by name."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from riverlog.broker.topic_files import TOPIC_FILE
from riverlog.cli.inspection.journals import JournalFacts, inspect_journal
from riverlog.cli.inspection.partitions import PartitionFacts, inspect_partition
from riverlog.cli.inspection.segments import Inspector
from riverlog.cli.inspection.small_files import (
    Finding,
    TopicNote,
    going_on,
    read_format,
    read_topic,
)
from riverlog.cluster.facts import BrokerStarted, ClusterFormed, Fact, UnknownFact, decode
from riverlog.cluster.metadata_log import FACT_BYTES_MAX
from riverlog.cluster.topics import TopicCreated, TopicDeleted
from riverlog.log.journal import DIRECTORY_NAME as JOURNAL
from riverlog.records.batch import BatchHeader
from riverlog.records.errors import BatchError
from riverlog.records.record import iterate
from riverlog.stores.data_directory import FORMAT, FORMAT_FILE, UnknownFormat

METADATA = "metadata"
TOPICS = "topics"
_ID_DIGITS = 32


class TopicFacts(NamedTuple):
    """A topic's directory. `name` is None when neither its note nor the metadata log tell it."""

    path: str
    topic_id: str
    name: str | None
    partition_count: int | None
    partitions: tuple[PartitionFacts, ...]
    record_count: int
    file_bytes: int


class DataFacts(NamedTuple):
    """A data directory. `topics` may be only the one asked for; `topic_names` are all."""

    path: str
    format: int | None
    cluster_id: str | None
    broker_epoch: int | None
    metadata: PartitionFacts | None
    journal: JournalFacts | None
    topic_names: tuple[str, ...]
    topics: tuple[TopicFacts, ...]


class _Told:
    """What the metadata log says, as far as it can be read."""

    def __init__(self, inspector: Inspector) -> None:
        self._find = inspector.find
        self.cluster_id: str | None = None
        self.broker_epoch: int | None = None
        self.names: dict[str, str] = {}
        self.deleted: set[str] = set()

    def hear(self, header: BatchHeader, position: int, data: memoryview) -> None:
        """Takes in the facts of one batch of the log."""
        try:
            for record in iterate(data, decompressed_bytes_max=FACT_BYTES_MAX):
                self._apply(decode(record.value or b""))
        except (BatchError, UnknownFact) as error:
            told = f"in the metadata log, offset {header.base_offset}: {error}"
            self._find(Finding(METADATA, position, header.size_bytes, told))

    def _apply(self, fact: Fact) -> None:
        match fact:
            case ClusterFormed():
                self.cluster_id = fact.cluster_id
            case BrokerStarted():
                self.broker_epoch = fact.epoch
            case TopicCreated():
                self.names[fact.topic_id.hex()] = fact.name
            case TopicDeleted():
                self.deleted.add(fact.topic_id.hex())
            case _:
                pass


def is_data_directory(names: list[str]) -> bool:
    """Whether a directory with these names in it is one."""
    return FORMAT_FILE in names or METADATA in names or TOPICS in names


def is_topic_directory(path: str, names: list[str]) -> bool:
    """Whether a directory with this path and these names in it is a topic's."""
    return TOPIC_FILE in names or _is_topic_id(os.path.basename(os.path.abspath(path)))


def inspect_data(inspector: Inspector, path: str, only_topic: str | None = None) -> DataFacts:
    """Looks at everything, or at one topic; raises `OSError`, or `UnknownFormat` of newer data."""
    format_path = f"{path}/{FORMAT_FILE}"
    found = read_format(inspector.disk, format_path, inspector.find)
    if found is None and not inspector.disk.exists(format_path):
        inspector.find(Finding(format_path, 0, 0, "it is missing"))
    if found is not None and found > FORMAT:
        raise UnknownFormat(
            f"{path} holds data of format {found} and this Riverlog knows formats up to {FORMAT}; "
            "look at it with the newer Riverlog that wrote it"
        )
    told = _Told(inspector)
    metadata = None
    if inspector.disk.exists(f"{path}/{METADATA}"):
        # Facts are few: they are read and checked in any case.
        reading = inspector._replace(checks_all=True, on_batch=told.hear)
        metadata = inspect_partition(reading, f"{path}/{METADATA}")
    journal = None
    if inspector.disk.exists(f"{path}/{JOURNAL}"):
        journal = inspect_journal(inspector, f"{path}/{JOURNAL}")
    topics = _topics(inspector, f"{path}/{TOPICS}", told, only_topic)
    return DataFacts(
        path,
        found,
        told.cluster_id,
        told.broker_epoch,
        metadata,
        journal,
        tuple(name for id_, name in told.names.items() if id_ not in told.deleted),
        tuple(topics),
    )


def inspect_topic(inspector: Inspector, path: str) -> TopicFacts:
    """Looks at one topic's directory; raises `OSError`."""
    note = read_topic(inspector.disk, f"{path}/{TOPIC_FILE}", inspector.find)
    return _topic(inspector, path, None if note is None else note.name, note)


def _topics(
    inspector: Inspector, path: str, told: _Told, only_topic: str | None
) -> Iterator[TopicFacts]:
    ids = inspector.disk.list(path) if inspector.disk.exists(path) else []
    for topic_id in filter(_is_topic_id, ids):
        directory = f"{path}/{topic_id}"
        if topic_id in told.deleted:
            deleted = "the topic was deleted; its files go at the broker's next start"
            inspector.find(Finding(directory, 0, 0, deleted, is_damage=False))
        with going_on(directory, inspector.find):
            note = read_topic(inspector.disk, f"{directory}/{TOPIC_FILE}", inspector.find)
            name = told.names.get(topic_id, None if note is None else note.name)
            if only_topic is None or only_topic in (name, topic_id):
                yield _topic(inspector, directory, name, note)


def _topic(inspector: Inspector, path: str, name: str | None, note: TopicNote | None) -> TopicFacts:
    names = inspector.disk.list(path)
    if TOPIC_FILE not in names:
        inspector.find(Finding(f"{path}/{TOPIC_FILE}", 0, 0, "it is missing"))
    partitions: list[PartitionFacts] = []
    for index in sorted(int(name) for name in names if _is_index(name)):
        with going_on(f"{path}/{index}", inspector.find):
            partitions.append(inspect_partition(inspector, f"{path}/{index}"))
    return TopicFacts(
        path,
        os.path.basename(os.path.abspath(path)),
        name,
        None if note is None else note.partition_count,
        tuple(partitions),
        sum(partition.record_count for partition in partitions),
        sum(partition.file_bytes for partition in partitions),
    )


def _is_topic_id(name: str) -> bool:
    return len(name) == _ID_DIGITS and all(digit in "0123456789abcdef" for digit in name)


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdigit() and str(int(name)) == name
