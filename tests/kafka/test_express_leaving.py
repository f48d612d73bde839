"""Several clients leave the express lane at once, while others' records become durable."""

import socket
from contextlib import ExitStack

import riverlog
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.embedded.talking import TOPIC

CLIENTS = 12
ROUNDS = 20
WAIT_S = 5

BATCH = build_batch([Record(0, 1, None, b"value")])


def produce(*partitions: int) -> bytes:
    data = [PartitionProduceData(index=index, records=BATCH) for index in partitions]
    topic = TopicProduceData(name=TOPIC, partition_data=data)
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[topic])
    return b"".join(request_frame(request, 11, 1, "client"))


# What the lane takes, and what it leaves to others.
COMMON = produce(0)
OTHERS = (produce(0, 1), b"".join(request_frame(ApiVersionsRequest(), 0, 1, "client")))


def replies(client: socket.socket, count: int) -> int:
    """Waits for so many; raises `TimeoutError`."""
    with client.makefile("rb") as received:
        return sum(len(received.read(int.from_bytes(received.read(4)))) > 0 for _ in range(count))


def test_everybody_who_leaves_the_lane_is_answered() -> None:
    with riverlog.Broker(topics={TOPIC: 2}) as broker, ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection(broker.address, timeout=WAIT_S))
            for _ in range(CLIENTS)
        ]
        for number in range(ROUNDS):
            for client in clients:
                client.sendall(COMMON)
                assert replies(client, 1) == 1

            # Some leave at once, others with a request that has to become durable first.
            for place, client in enumerate(clients, number):
                client.sendall(COMMON * (place % 3) + OTHERS[place % 2])

            counts = [
                replies(client, place % 3 + 1) for place, client in enumerate(clients, number)
            ]
            assert counts == [place % 3 + 1 for place in range(number, number + CLIENTS)]
