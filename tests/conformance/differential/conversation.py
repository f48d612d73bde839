"""A script's side of the table: it asks one broker, and everything it is told is written down."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.headers import read_response, request_frame
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from riverlog.protocol.messages.find_coordinator import FindCoordinatorRequest
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from riverlog.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.conformance.clients.raw_connection import Listening, RawConnection
from tests.conformance.differential.fields import CLOSED, Fields, fields_of

CORRELATION_ID = 4711
READY_S_MAX = 20
POLL_S = 0.01
LATEST = -1


class Told(NamedTuple):
    """One reply: what was asked for, and every field of the answer by its path."""

    step: str
    version: int
    fields: Fields


class Topic(NamedTuple):
    """A topic that is ready for use, as the broker under test knows it."""

    name: str
    topic_id: bytes
    leader_epoch: int


class Conversation:
    """One script, at one version, with one broker.

    Attributes:
        version: That of the API which the script is about.
        now_ms: A time for records, the same for both brokers.
        told: The replies so far.
    """

    def __init__(self, broker: Listening, script: str, version: int, now_ms: int) -> None:
        self.version = version
        self.now_ms = now_ms
        self.told: list[Told] = []
        self._script = script
        self._barriers = 0
        self._broker = broker
        self._connection: RawConnection | None = RawConnection(broker)

    def close(self) -> None:
        """Ends its connection."""
        if self._connection is not None:
            self._connection.close()

    def beside(self) -> "closing[Conversation]":
        """A second connection to the same broker, on the same record, for a `with`."""
        other = Conversation(self._broker, self._script, self.version, self.now_ms)
        other.told = self.told
        return closing(other)

    def name(self, suffix: str = "topic") -> str:
        """A name that no other script or version uses."""
        return f"{self._script.replace(' ', '-')}-v{self.version}-{suffix}"

    def ask(self, step: str, request: Any, version: int | None = None) -> Any:
        """The reply, for the record; None if the broker closed the connection instead."""
        version = self.version if version is None else version
        reply = self.look(request, version)
        fields: Fields = {CLOSED: True} if reply is None else fields_of(reply, version)
        self.told.append(Told(step, version, fields))
        return reply

    def look(self, request: Any, version: int) -> Any:
        """As `ask`, off the record."""
        self.send(request, version)
        return self.receive(request, version)

    def send(self, request: Any, version: int) -> None:
        """Asks for what no reply is expected to."""
        frame = b"".join(request_frame(request, version, CORRELATION_ID, "script"))
        self.send_frame(frame[4:])

    def send_frame(self, frame: bytes) -> None:
        """Sends any bytes as a request."""
        if self._connection is None:
            self._connection = RawConnection(self._broker)
        self._connection.send(frame)

    def receive(self, request: Any, version: int) -> Any:
        """The next reply, read as one to `request`; None if the connection was closed."""
        frame = self.receive_frame()
        if frame is None:
            return None
        _, response = tables(ApiKey(request.API_KEY))
        correlation_id, reply = read_response(request, version, frame, response)
        assert correlation_id == CORRELATION_ID
        return reply

    def receive_frame(self) -> bytes | None:
        """The next reply as it came; None if the broker closed, and the next request reconnects."""
        assert self._connection is not None
        try:
            frame = self._connection.receive()
        except ConnectionResetError:
            frame = None
        if frame is None:
            self._connection.close()
            self._connection = None
        return frame

    def write_down(self, step: str, fields: Fields) -> None:
        """Puts on the record what a script has worked out itself."""
        self.told.append(Told(step, self.version, fields))

    def topic(
        self,
        suffix: str = "topic",
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
    ) -> Topic:
        """A topic of this script's own, ready for use."""
        name = self.name(suffix)
        given = [CreatableTopicConfig(name=k, value=v) for k, v in (configs or {}).items()]
        wanted = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, assignments=[],
            configs=given,
        )  # fmt: skip
        (made,) = self.look(CreateTopicsRequest(topics=[wanted]), 7).topics
        assert made.error_code == 0, made
        return self.await_topic(name, range(partitions))

    def await_topic(self, name: str, partitions: Sequence[int]) -> Topic:
        """The topic, once its partitions are led; Kafka tells of it a little earlier."""
        asked = [MetadataRequestTopic(name=name)]
        metadata = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        latest = [ListOffsetsPartition(partition_index=i, timestamp=LATEST) for i in partitions]
        topics = [ListOffsetsTopic(name=name, partitions=latest)]
        deadline = time.monotonic() + READY_S_MAX
        while True:
            (found,) = self.look(metadata, 12).topics
            (ends,) = self.look(ListOffsetsRequest(replica_id=-1, topics=topics), 6).topics
            if found.error_code == 0 and not any(p.error_code for p in ends.partitions):
                return Topic(name, found.topic_id, found.partitions[0].leader_epoch)
            assert time.monotonic() < deadline, f"{name} is not ready: {found} {ends}"
            time.sleep(POLL_S)

    def settle(self) -> None:
        """Returns when whatever was changed so far is seen; Kafka's changes come in order."""
        self._barriers += 1
        self.topic(f"barrier-{self._barriers}")

    def await_coordinator(self, group: str) -> None:
        """Returns when the group can be used; Kafka makes its internal topic first."""
        self.look(FindCoordinatorRequest(coordinator_keys=[group]), 4)
        topics = OffsetFetchRequestGroup(group_id=group, topics=None)
        deadline = time.monotonic() + READY_S_MAX
        while True:
            (found,) = self.look(OffsetFetchRequest(groups=[topics]), 8).groups
            if found.error_code == 0:
                return
            assert time.monotonic() < deadline, f"{group} has no coordinator: {found}"
            time.sleep(POLL_S)

    def await_answer(self, request: Any, version: int, error_code: int) -> None:
        """Asks until it is answered with this error, off the record."""
        deadline = time.monotonic() + READY_S_MAX
        while self.look(request, version).error_code != error_code:
            assert time.monotonic() < deadline, f"{request} is never answered with {error_code}"
            time.sleep(POLL_S)
