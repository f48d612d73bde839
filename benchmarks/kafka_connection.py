"""One connection to a broker, and the few requests that benchmarks make themselves."""

import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from benchmarks.batches import PRODUCE_VERSION, produce_request
from riverlog.protocol.headers import read_response, request_frame
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataResponse
from riverlog.protocol.messages.produce import ProduceResponse

REPLY_S_MAX = 120
FILL_BYTES_IN_FLIGHT_MAX = 8 << 20
LATEST = -1

R = TypeVar("R")


class Refused(Exception):
    """The broker answered with an error code."""


class KafkaConnection:
    """Asks and waits. Every error code in a reply raises `Refused`."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._received = connected.makefile("rb")

    def create_topic(
        self, name: str, partition_count: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=partition_count,
            replication_factor=1,
            assignments=[],
            configs=[
                CreatableTopicConfig(name=config, value=value)
                for config, value in (configs or {}).items()
            ],
        )
        reply = self._ask(CreateTopicsRequest(topics=[topic]), 5, CreateTopicsResponse)
        _check(reply.topics[0].error_code)

    def delete_topic(self, name: str) -> None:
        reply = self._ask(
            DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000), 4, DeleteTopicsResponse
        )
        _check(reply.responses[0].error_code)

    def produce(self, topic: str, batch: bytes) -> int:
        """Appends a batch to partition 0, acks=all, and gives the offset it got."""
        return self._offset_given(
            self._ask(produce_request(topic, 0, batch), PRODUCE_VERSION, ProduceResponse)
        )

    def fill(self, topic: str, batch: bytes, times: int) -> None:
        """Appends a batch again and again, several requests at a time; all are acknowledged."""
        request = produce_request(topic, 0, batch)
        frame = b"".join(request_frame(request, PRODUCE_VERSION, 0, "fill"))
        in_flight_max = max(FILL_BYTES_IN_FLIGHT_MAX // len(frame), 1)
        in_flight = 0
        for _ in range(times):
            if in_flight == in_flight_max:
                self._offset_given(self._reply(request, PRODUCE_VERSION, ProduceResponse))
                in_flight -= 1
            self._socket.sendall(frame)
            in_flight += 1
        for _ in range(in_flight):
            self._offset_given(self._reply(request, PRODUCE_VERSION, ProduceResponse))

    def end_offset(self, topic: str, partition: int = 0) -> int:
        """Where the partition ends: how many records are durable, if none was ever deleted."""
        asked = ListOffsetsPartition(partition_index=partition, timestamp=LATEST)
        topics = [ListOffsetsTopic(name=topic, partitions=[asked])]
        request = ListOffsetsRequest(replica_id=-1, topics=topics)
        found = self._ask(request, 6, ListOffsetsResponse).topics[0].partitions[0]
        _check(found.error_code)
        return found.offset

    def broker_ports(self) -> list[int]:
        """Where the members of the cluster are that take requests."""
        reply = self._ask(MetadataRequest(topics=[]), 12, MetadataResponse)
        return [broker.port for broker in reply.brokers]

    def fetch(self, topic: str, offset: int) -> bytes:
        """The batches from `offset` on, about a mebibyte of them; there is at least one."""
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        topics = [FetchTopic(topic=topic, partitions=[asked])]
        request = FetchRequest(max_wait_ms=REPLY_S_MAX * 1000, min_bytes=1, topics=topics)
        found = self._ask(request, 12, FetchResponse).responses[0].partitions[0]
        _check(found.error_code)
        assert found.records, "a fetch came back empty"
        return bytes(found.records)

    def _ask(self, request: Any, version: int, response: type[R]) -> R:  # messages share no type
        self._socket.sendall(b"".join(request_frame(request, version, 0, "benchmark")))
        return self._reply(request, version, response)

    def _reply(self, request: Any, version: int, response: type[R]) -> R:  # as above
        prefix = self._received.read(4)
        if len(prefix) < 4:
            raise ConnectionError("the broker closed the connection")
        frame = self._received.read(*struct.unpack(">i", prefix))
        message: R = read_response(request, version, frame, response)[1]
        return message

    def _offset_given(self, reply: ProduceResponse) -> int:
        partition = reply.responses[0].partition_responses[0]
        _check(partition.error_code)
        return partition.base_offset

    def close(self) -> None:
        self._received.close()
        self._socket.close()


@contextmanager
def connected(port: int) -> Iterator[KafkaConnection]:
    """A connection to a broker on this machine, closed in the end."""
    connection = KafkaConnection(socket.create_connection(("127.0.0.1", port), REPLY_S_MAX))
    try:
        yield connection
    finally:
        connection.close()


def _check(error_code: int) -> None:
    if error_code:
        raise Refused(f"error code {error_code}")
