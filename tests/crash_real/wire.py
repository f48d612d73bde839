"""A client that asks one thing at a time, and keeps book of what it sends and is told."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.records.batch import read_header
from riverlog.records.builder import build_batch
from riverlog.records.record import Record, iterate
from riverlog.testing import history
from riverlog.testing.history import Acks, History
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected

PRODUCE_VERSION = 11
FETCH_BY_NAME, FETCH_BY_ID = 12, 13
FETCH_BYTES = 4 << 20
RECORD_BYTES_MAX = 8 << 20
TIMESTAMP_MS = 1_700_000_000_000

ACKS = {Acks.NONE: 0, Acks.ONE: 1, Acks.ALL: -1}


@dataclass(frozen=True, slots=True)
class Produced:
    """The answer to one batch."""

    error: ErrorCode
    base_offset: int

    @property
    def is_acknowledged(self) -> bool:
        return self.error == ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as it was fetched."""

    leader_epoch: int
    producer_epoch: int
    next_offset: int
    records: list[history.Record]


class Wire:
    """Asks a broker over one connection. A record's key is its id in the `history`."""

    def __init__(self, connection: RawConnection, history: History | None = None) -> None:
        self._connection = connection
        self.history = history or History()

    def create_topic(self, name: str, partition_count: int = 1, **configs: str) -> bytes:
        """Makes a topic and gives its id; configs are written with `_` for `.`."""
        code, topic_id = self.try_to_create(name, partition_count, **configs)
        assert code == ErrorCode.NONE, code
        return topic_id

    def try_to_create(
        self, name: str, partition_count: int = 1, **configs: str
    ) -> tuple[ErrorCode, bytes]:
        topic = CreatableTopic(
            name=name,
            num_partitions=partition_count,
            replication_factor=1,
            assignments=[],
            configs=[
                CreatableTopicConfig(name=config.replace("_", "."), value=value)
                for config, value in configs.items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic])
        (result,) = self._connection.ask(request, 7, CreateTopicsResponse).topics
        return ErrorCode(result.error_code), result.topic_id

    def delete_topic(self, name: str) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000)
        (result,) = self._connection.ask(request, 6, DeleteTopicsResponse).responses
        assert result.error_code == ErrorCode.NONE

    def describe(self, name: str, *, is_creating: bool = False) -> MetadataResponseTopic:
        """What the broker says of a topic now."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=is_creating
        )
        (topic,) = self._connection.ask(request, 12, MetadataResponse).topics
        return topic

    def leader_epoch(self, topic: str) -> int:
        return self.describe(topic).partitions[0].leader_epoch

    def new_producer_id(self) -> int:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        return self._connection.ask(request, 4, InitProducerIdResponse).producer_id

    def produce(
        self,
        topic: str,
        *records: tuple[str, bytes],
        partition: int = 0,
        acks: Acks = Acks.ALL,
    ) -> Produced:
        """Sends records (id and payload) in one batch; waits for the answer."""
        return self.produce_each(topic, {partition: list(records)}, acks=acks)[partition]

    def produce_each(
        self,
        topic: str,
        records: Mapping[int, Sequence[tuple[str, bytes]]],
        acks: Acks = Acks.ALL,
    ) -> dict[int, Produced]:
        """Sends a batch to each of several partitions in one request; the answers by partition."""
        data = []
        for partition, sent in records.items():
            name = f"{topic}-{partition}"
            for record_id, payload in sent:
                self.history.sent(record_id, name, payload, f"wire to {name}")
            batch = build_batch(
                [
                    Record(number, TIMESTAMP_MS, record_id.encode(), payload)
                    for number, (record_id, payload) in enumerate(sent)
                ]
            )
            data.append(PartitionProduceData(index=partition, records=batch))
        request = ProduceRequest(
            acks=ACKS[acks],
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name=topic, partition_data=data)],
        )
        response = self._connection.ask(request, PRODUCE_VERSION, ProduceResponse)
        answers = {}
        for answer in response.responses[0].partition_responses:
            produced = Produced(ErrorCode(answer.error_code), answer.base_offset)
            answers[answer.index] = produced
            if produced.is_acknowledged:
                for number, (record_id, _) in enumerate(records[answer.index]):
                    self.history.acknowledged(record_id, produced.base_offset + number, acks)
        return answers

    def fetch(
        self, topic: str | bytes, offset: int, partition: int = 0, *, wait_ms: int = 0
    ) -> PartitionData:
        """One fetch from one partition of a topic, by its name or by its id."""
        wanted = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
        )
        if isinstance(topic, bytes):
            asked, version = FetchTopic(topic_id=topic, partitions=[wanted]), FETCH_BY_ID
        else:
            asked, version = FetchTopic(topic=topic, partitions=[wanted]), FETCH_BY_NAME
        request = FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=[asked])
        response = self._connection.ask(request, version, FetchResponse)
        assert response.error_code == ErrorCode.NONE
        return response.responses[0].partitions[0]

    def read(self, topic: str | bytes, partition: int = 0, start_offset: int = 0) -> list[Batch]:
        """All that a partition holds, from `start_offset` on."""
        batches: list[Batch] = []
        offset = start_offset
        while True:
            answer = self.fetch(topic, offset, partition)
            assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code)
            if not answer.records:
                assert offset == answer.high_watermark, "the log ends before its high watermark"
                return batches
            batches += _batches(bytes(answer.records))
            offset = batches[-1].next_offset

    def read_back(self, topic: str, partition: int = 0) -> list[Batch]:
        """Like `read`, and into the history."""
        batches = self.read(topic, partition)
        self.history.read_back(f"{topic}-{partition}", records_of(batches))
        return batches


def records_of(batches: list[Batch]) -> list[history.Record]:
    return [record for batch in batches for record in batch.records]


@contextmanager
def wired(broker: BrokerProcess, history: History | None = None) -> Iterator[Wire]:
    """A fresh connection, closed at the end of a `with`."""
    with connected(broker) as connection:
        yield Wire(connection, history)


def _batches(data: bytes) -> Iterator[Batch]:
    position = 0
    while position < len(data):
        header = read_header(data, position)
        records = []
        for record in iterate(data, position, decompressed_bytes_max=RECORD_BYTES_MAX):
            assert record.key is not None
            assert record.value is not None
            records.append(history.Record(record.offset, record.key.decode(), record.value))
        yield Batch(header.leader_epoch, header.producer_epoch, header.next_offset, records)
        position += header.size_bytes
