"""Two brokers, and a partition that moves from one to the other: records follow its leader."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from riverlog.client.async_client import connect_async
from riverlog.config import Address
from riverlog.kafka.apis import Context
from riverlog.kafka.listener import Listener
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
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
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.kafka.door import listening

TOPIC = "t"
NOT_HERE = ErrorCode.NOT_LEADER_OR_FOLLOWER


class TwoBrokers:
    """What two brokers say of one partition; `leader` is the one that takes and gives records."""

    def __init__(self) -> None:
        self.leader = 1
        self.addresses: dict[int, Address] = {}
        self.asked: list[tuple[str, int]] = []

    def listening(self) -> AbstractAsyncContextManager[Listener]:
        return listening(
            metadata=self.metadata,
            produce=self.produce,
            list_offsets=self.list_offsets,
            fetch=self.fetch,
        )

    def metadata(self, request: MetadataRequest, context: Context) -> MetadataResponse:
        brokers = [
            MetadataResponseBroker(node_id=node, host=address.host, port=address.port)
            for node, address in self.addresses.items()
        ]
        partition = MetadataResponsePartition(
            partition_index=0, leader_id=self.leader, replica_nodes=[1, 2], isr_nodes=[1, 2]
        )
        topic = MetadataResponseTopic(name=TOPIC, partitions=[partition])
        return MetadataResponse(brokers=brokers, topics=[topic])

    def node(self, context: Context) -> int:
        return next(
            node for node, address in self.addresses.items() if address == context.advertised
        )

    def is_refused(self, call: str, context: Context) -> bool:
        node = self.node(context)
        self.asked.append((call, node))
        return node != self.leader

    def produce(self, request: ProduceRequest, context: Context) -> ProduceResponse:
        code = NOT_HERE if self.is_refused("produce", context) else ErrorCode.NONE
        answer = PartitionProduceResponse(index=0, error_code=code, base_offset=0)
        topic = TopicProduceResponse(name=TOPIC, partition_responses=[answer])
        return ProduceResponse(responses=[topic])

    def list_offsets(self, request: ListOffsetsRequest, context: Context) -> ListOffsetsResponse:
        code = NOT_HERE if self.is_refused("list_offsets", context) else ErrorCode.NONE
        answer = ListOffsetsPartitionResponse(partition_index=0, error_code=code, offset=0)
        return ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse(name=TOPIC, partitions=[answer])]
        )

    def fetch(self, request: FetchRequest, context: Context) -> FetchResponse:
        (topic,) = request.topics
        (partition,) = topic.partitions
        code = NOT_HERE if self.is_refused("fetch", context) else ErrorCode.NONE
        offset = partition.fetch_offset
        batch = build_batch([Record(offset, 0, None, b"%d" % offset)], base_offset=offset)
        answer = PartitionData(
            partition_index=0,
            error_code=code,
            high_watermark=offset + 1,
            aborted_transactions=None,
            records=None if code else batch,
        )
        return FetchResponse(responses=[FetchableTopicResponse(topic=TOPIC, partitions=[answer])])


@asynccontextmanager
async def two_brokers() -> AsyncIterator[TwoBrokers]:
    brokers = TwoBrokers()
    async with brokers.listening() as one, brokers.listening() as two:
        brokers.addresses = {1: one.address, 2: two.address}
        yield brokers


async def test_publishing_follows_the_leader() -> None:
    async with (
        two_brokers() as brokers,
        connect_async(str(brokers.addresses[1])) as client,
    ):
        await client.publish(TOPIC, "before")
        brokers.leader = 2
        await client.publish(TOPIC, "after")
    assert brokers.asked == [("produce", 1), ("produce", 1), ("produce", 2)]


async def test_reading_follows_the_leader() -> None:
    got = []
    async with (
        two_brokers() as brokers,
        connect_async(str(brokers.addresses[1])) as client,
    ):
        async for record in client.subscribe(TOPIC, start="earliest", count=100):
            got.append(record.text())
            if len(got) == 10:
                brokers.leader = 2
    assert got == [str(number) for number in range(100)]
    assert {node for call, node in brokers.asked if call == "fetch"} == {1, 2}


async def test_looking_for_offsets_follows_the_leader() -> None:
    async with (
        two_brokers() as brokers,
        connect_async(str(brokers.addresses[1])) as client,
    ):
        await client.topics.offsets(TOPIC)
        brokers.leader = 2
        assert await client.topics.offsets(TOPIC) == {0: 0}
    assert [node for _, node in brokers.asked] == [1, 1, 2]
