"""A broker that keeps nothing: what a client can do when the broker costs as little as it may.

It acknowledges what is produced without looking at more than the number of records, and answers
every fetch from one batch in memory with its offset patched. Every topic asked for exists, with
one partition. It speaks the versions that Riverlog speaks, so that the same bytes go over the
wire. A partition holds RECORD_COUNT records of RECORD_BYTES from the start.

    python -m benchmarks.null_broker RECORD_BYTES RECORD_COUNT
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any

from benchmarks.batches import full_batch
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import codec
from riverlog.protocol.frames import PREFIX_BYTES, framed
from riverlog.protocol.headers import read_client_id, read_start, response_header
from riverlog.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from riverlog.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from riverlog.protocol.messages.init_producer_id import InitProducerIdResponse
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from riverlog.protocol.wire import Buffer

VERSIONS = {
    ApiKey.PRODUCE: (0, 12),
    ApiKey.FETCH: (4, 17),
    ApiKey.LIST_OFFSETS: (1, 10),
    ApiKey.METADATA: (0, 13),
    ApiKey.API_VERSIONS: (0, 4),
    ApiKey.INIT_PRODUCER_ID: (0, 5),
}
BUFFER_BYTES = 4 << 20
EARLIEST = -2
TOPIC_ID = bytes(range(16))

_BASE_OFFSET = Struct(">q")
_RECORD_COUNT = Struct(">i")
_RECORD_COUNT_AT = 57


class NullLog:
    """One partition, the same for every topic: it counts, and seems to hold what it was given."""

    def __init__(self, record_bytes: int, record_count: int) -> None:
        batch, self._batch_records = full_batch(record_bytes)
        self._batch = bytearray(batch)
        self.stored = record_count
        self.next_offset = record_count

    def append(self, batch: Buffer) -> int:
        base_offset = self.next_offset
        self.next_offset += _RECORD_COUNT.unpack_from(batch, _RECORD_COUNT_AT)[0]
        return base_offset

    def read(self, offset: int) -> Buffer:
        """The batch that holds `offset`, good until the next call; nothing at the end."""
        if offset >= self.stored:
            return b""
        _BASE_OFFSET.pack_into(self._batch, 0, offset - offset % self._batch_records)
        return memoryview(self._batch)


class NullConnection:
    """Answers each request at once, but for a fetch at the end, which waits as it asks to.

    It reads and writes its socket directly: a stream or a protocol of asyncio would copy every
    batch once or twice more, and a reference that does avoidable work is none.
    """

    def __init__(self, connection: socket.socket, log: NullLog) -> None:
        self._socket = connection
        self._log = log
        self._port = connection.getsockname()[1]
        self._buffer = bytearray(BUFFER_BYTES)
        self._begin = self._end = 0
        self._answers: dict[int, Callable[[Any], Any]] = {
            ApiKey.PRODUCE: self._produce,
            ApiKey.LIST_OFFSETS: self._list_offsets,
            ApiKey.METADATA: self._metadata,
            ApiKey.API_VERSIONS: self._api_versions,
            ApiKey.FETCH: self._fetch,
            ApiKey.INIT_PRODUCER_ID: self._init_producer_id,
        }

    async def serve(self) -> None:
        """Returns when the client has gone."""
        with self._socket, suppress(ConnectionError):
            while (frame := await self._next_frame()) is not None:
                key, version, correlation_id = read_start(frame)
                request_class, response_class = tables(ApiKey(key))
                is_flexible = version in request_class.FLEXIBLE  # type: ignore[attr-defined]  # a table
                _, position = read_client_id(frame, is_flexible)
                request = codec(request_class, version).decode(frame, position)
                answer = self._answers[key](request)
                if key == ApiKey.FETCH and not any(_records(answer)):
                    await asyncio.sleep(request.max_wait_ms / 1000)
                parts = codec(response_class, version).encode(answer)
                header = response_header(key, correlation_id, is_flexible)
                await self._send(framed([header, *parts]))

    async def _send(self, parts: list[Buffer]) -> None:
        """Sends all in one call as far as the kernel has room: pieces would wake the client."""
        try:
            sent = self._socket.sendmsg(parts)
        except BlockingIOError:
            sent = 0
        for part in parts:
            if sent < len(part):
                await asyncio.get_running_loop().sock_sendall(self._socket, part[sent:])
            sent = max(sent - len(part), 0)

    async def _next_frame(self) -> bytes | None:
        prefix = await self._take(PREFIX_BYTES)
        return None if prefix is None else await self._take(int.from_bytes(prefix, "big"))

    async def _take(self, size: int) -> bytes | None:
        """The next bytes, or None when the client has gone."""
        loop = asyncio.get_running_loop()
        view = memoryview(self._buffer)
        while self._end - self._begin < size:
            if self._begin + size > BUFFER_BYTES:
                held = self._end - self._begin
                view[:held] = bytes(view[self._begin : self._end])
                self._begin, self._end = 0, held
            got = await loop.sock_recv_into(self._socket, view[self._end :])
            if not got:
                return None
            self._end += got
        taken = bytes(view[self._begin : self._begin + size])
        self._begin += size
        if self._begin == self._end:
            self._begin = self._end = 0
        return taken

    def _produce(self, request: ProduceRequest) -> ProduceResponse:
        return ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic.name,
                    partition_responses=[
                        PartitionProduceResponse(
                            index=data.index, base_offset=self._log.append(data.records or b"")
                        )
                        for data in topic.partition_data
                    ],
                )
                for topic in request.topic_data
            ]
        )

    def _fetch(self, request: FetchRequest) -> FetchResponse:
        return FetchResponse(
            responses=[
                FetchableTopicResponse(
                    topic=topic.topic,
                    topic_id=topic.topic_id,
                    partitions=[self._fetched(wanted) for wanted in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    def _fetched(self, wanted: FetchPartition) -> PartitionData:
        return PartitionData(
            partition_index=wanted.partition,
            high_watermark=self._log.next_offset,
            last_stable_offset=self._log.next_offset,
            log_start_offset=0,
            aborted_transactions=None,
            records=self._log.read(wanted.fetch_offset),
        )

    def _list_offsets(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=asked.partition_index,
                            offset=0 if asked.timestamp == EARLIEST else self._log.next_offset,
                            leader_epoch=0,
                        )
                        for asked in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _metadata(self, request: MetadataRequest) -> MetadataResponse:
        partition = MetadataResponsePartition(
            partition_index=0, leader_id=1, leader_epoch=0, replica_nodes=[1], isr_nodes=[1]
        )
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self._port)],
            cluster_id="null",
            controller_id=1,
            topics=[
                MetadataResponseTopic(name=topic.name, topic_id=TOPIC_ID, partitions=[partition])
                for topic in request.topics or []
            ],
        )

    def _api_versions(self, _request: object) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=first, max_version=last)
                for key, (first, last) in VERSIONS.items()
            ]
        )

    def _init_producer_id(self, _request: object) -> InitProducerIdResponse:
        return InitProducerIdResponse(producer_id=1, producer_epoch=0)


def _records(answer: FetchResponse) -> list[Buffer | None]:
    return [found.records for topic in answer.responses for found in topic.partitions]


async def main(record_bytes: int, record_count: int) -> None:
    log = NullLog(record_bytes, record_count)
    loop = asyncio.get_running_loop()
    serving = set()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        host, port = listener.getsockname()
        print(f"listening address={host}:{port}", file=sys.stderr)
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.create_task(NullConnection(connection, log).serve())
            serving.add(task)
            task.add_done_callback(serving.discard)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
