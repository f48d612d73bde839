"""A client that goes away while a request of it waits is let go of, though it is not read from."""

import os
import socket
import time

import riverlog
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.embedded.talking import TOPIC

LONG_MS = 2**31 - 1
WAIT_S_MAX = 10


def waiting_client(broker: riverlog.Broker, wait_ms: int) -> socket.socket:
    """Has asked for records that do not come, and for something else behind that.

    What comes behind is not started, so that nothing more is read.
    """
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topic = FetchTopic(topic=TOPIC, partitions=[partition])
    patient = FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=[topic])
    client = socket.create_connection(broker.address, timeout=WAIT_S_MAX)
    client.sendall(b"".join(request_frame(patient, 12, 1, None)))
    client.sendall(b"".join(request_frame(ApiVersionsRequest(), 0, 2, None)))
    return client


def open_sockets() -> int:
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
        except FileNotFoundError:
            continue  # The directory that was read to find it.
    return found


def test_who_left_while_waiting_is_let_go_of() -> None:
    with riverlog.Broker(topics={TOPIC: 1}, connections_max_idle_ms=100) as broker:
        before = open_sockets()
        for _ in range(5):
            waiting_client(broker, LONG_MS).close()

        deadline = time.monotonic() + WAIT_S_MAX
        while open_sockets() > before and time.monotonic() < deadline:
            time.sleep(0.05)

        assert open_sockets() <= before


def test_who_waits_without_leaving_is_answered() -> None:
    with (
        riverlog.Broker(topics={TOPIC: 1}, connections_max_idle_ms=100) as broker,
        waiting_client(broker, 700) as client,
    ):
        assert len(client.recv(8)) == 8
