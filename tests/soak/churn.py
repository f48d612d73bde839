"""Clients that come and go: all that a broker meets in a day, in some seconds."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count

from confluent_kafka import Consumer, Producer

import riverlog
from riverlog.client.errors import ClientError, OffsetOutOfRange
from riverlog.kafka.fetch_sessions import SESSIONS_MAX
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import connected

TOPIC = "soak"
PARTITIONS = 2
# Names that come again, whose offsets are left to expire; all others are deleted.
LASTING_GROUPS = 4
IDLE_CONNECTIONS = 5
FETCH_SESSIONS = 30
RECORDS = 200
WAIT_S = 10

SETTINGS = (
    "--num-partitions", "1",
    "--log-retention-check-interval-ms", "200",
    "--checkpoint-bytes", "32768",
    "--producer-id-expiration-ms", "500",
    "--group-initial-rebalance-delay-ms", "0",
    "--group-min-session-timeout-ms", "100",
    "--offsets-retention-minutes", "1",
    "--offsets-retention-check-interval-ms", "300",
    "--offsets-topic-num-partitions", "1",
    "--connections-max-idle-ms", "700",
)  # fmt: skip


# Not for all topics: that of committed offsets keeps what it has.
SHORT_LIVED = {
    "segment.bytes": "131072",
    "segment.ms": "400",
    "retention.ms": "800",
    "file.delete.delay.ms": "100",
}


class Churn:
    """One load after the other; between them no client is left."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._broker = broker
        self._numbers = count()
        self.failures: list[str] = []
        with riverlog.connect(broker.bootstrap) as client:
            client.topics.create(TOPIC, partitions=PARTITIONS)
            client.topics.set_configs(TOPIC, SHORT_LIVED)
        # There is room for so many; a new one takes the place of an old one from then on.
        self._begin_fetch_sessions(SESSIONS_MAX)

    def run(self, duration_s: float) -> None:
        """Every client has left, or has been killed and given up, when it returns."""
        until_s = time.monotonic() + duration_s
        works = (self._produce_and_consume, self._own_client, self._admin, self._rude)
        threads = [
            threading.Thread(target=self._repeat, args=(work, until_s), daemon=True)
            for work in works
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._forget_groups()

    def _repeat(self, work: Callable[[int], None], until_s: float) -> None:
        try:
            while time.monotonic() < until_s:
                work(next(self._numbers))
        except Exception as failure:  # noqa: BLE001  # whatever it is, the run has failed
            self.failures.append(f"{work.__name__}: {failure!r}")

    def _produce_and_consume(self, number: int) -> None:
        """An idempotent producer with a fresh id, and a group that two join and leave."""
        there = {"bootstrap.servers": self._broker.bootstrap, "log_level": 0}
        producer = Producer({**there, "enable.idempotence": True})
        for _ in range(RECORDS):
            producer.produce(TOPIC, bytes(500))
        assert producer.flush(WAIT_S) == 0
        group = {"group.id": f"lasting-{number % LASTING_GROUPS}", "session.timeout.ms": 2000}
        members = [Consumer({**there, **group}) for _ in range(2)]
        for member in members:
            member.subscribe([TOPIC])
        for member in members:
            member.poll(0.4)
        for member in members:
            member.close()

    def _own_client(self, number: int) -> None:
        with riverlog.connect(self._broker.bootstrap) as client:
            client.publish_batch(TOPIC, [("key", "value" * 50)] * RECORDS).results()
            options = {"group": f"passing-{number}", "start": "earliest", "count": 5}
            # What was there at the start may be gone by now, which it is told.
            with suppress(OffsetOutOfRange):
                list(client.subscribe(TOPIC, **options))  # type: ignore[call-overload]  # as said

    def _admin(self, number: int) -> None:
        """Topics that are made, used and deleted, and members that are killed."""
        name = f"short-lived-{number}"
        with riverlog.connect(self._broker.bootstrap) as client:
            client.topics.create(name, partitions=3)
            client.publish_batch(name, [("key", "value")] * 20).results()
            joining = ["kcat", "-b", self._broker.bootstrap, "-X", "session.timeout.ms=1000"]
            member = subprocess.Popen(
                [*joining, "-G", f"killed-{number}", name],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(0.5)
            member.kill()
            member.wait()
            client.topics.set_configs(name, SHORT_LIVED)
            client.topics.delete(name)

    def _rude(self, number: int) -> None:
        """Connections left idle or cut, half a request, fetch sessions that nobody ends."""
        with ExitStack() as stack:
            for _ in range(IDLE_CONNECTIONS):
                address = (self._broker.host, self._broker.port)
                stack.enter_context(socket.create_connection(address)).sendall(b"\0\0\1\0half")
            self._begin_fetch_sessions(FETCH_SESSIONS)
            time.sleep(0.3)

    def _begin_fetch_sessions(self, session_count: int) -> None:
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
        wanted = FetchTopic(topic=TOPIC, partitions=[partition])
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, session_id=0, session_epoch=0, topics=[wanted]
        )
        with connected(self._broker) as connection:
            for _ in range(session_count):
                connection.ask(request, 12, FetchResponse)

    def _forget_groups(self) -> None:
        """Deletes the groups that have fresh names, once their members are given up."""
        deadline = time.monotonic() + WAIT_S
        with riverlog.connect(self._broker.bootstrap) as client:
            while passing := [g.name for g in client.groups.list() if "lasting" not in g.name]:
                assert time.monotonic() < deadline, f"these groups are still in use: {passing}"
                for name in passing:
                    try:
                        client.groups.delete(name)
                    except ClientError:
                        time.sleep(0.05)
