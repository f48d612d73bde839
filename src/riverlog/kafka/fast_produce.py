"""The common Produce request, read and answered without making messages of it.

One topic, one partition, no transaction: that is what nearly every small request is. The bytes of
its reply come from the tables themselves, taken apart once per topic, partition and version; any
other request, and any refusal, takes the ordinary way through `handlers/produce.py`.
"""

import struct
from struct import Struct

from riverlog.broker.broker import Broker
from riverlog.broker.errors import InternalTopic, UnknownTopic, UnknownTopicId
from riverlog.cluster.topics import TopicCreated
from riverlog.kafka.apis import SLOW, Answer, Context
from riverlog.kafka.errors import ANSWERABLE
from riverlog.kafka.handlers.produce import TOPIC_IDS_FROM, ZSTD_FROM, refused, uses_zstd
from riverlog.kafka.later import Encoded, HangUp, Later
from riverlog.log.partition import Partition
from riverlog.protocol.codec import encode
from riverlog.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from riverlog.protocol.wire import WireError, read_uvarint

FLEXIBLE_FROM = 9
LOG_START_FROM = 5
PLACES_MIN = 16
PLACES_MAX = 10_000

_PLAIN_START = Struct(">hhiih")
_PLAIN_PARTITION = Struct(">iii")
_FLEXIBLE_START = Struct(">BhiBB")
_START_WITH_ID = Struct(">BhiB16s")
_FLEXIBLE_PARTITION = Struct(">Bi")
_OFFSETS = Struct(">qqq")
_OLD_OFFSETS = Struct(">qq")

_BASE_OFFSET_BYTES = 8

# Values that stand for themselves in an encoded reply, to find where offsets go.
_MARKERS = (0x0102030405060708, 0x1112131415161718, 0x2122232425262728)


class Place:
    """One partition as one version of the protocol answers for it."""

    __slots__ = ("head", "index", "offsets", "partition", "tail", "topic", "version")

    def __init__(self, partition: Partition, topic: TopicCreated, index: int, version: int) -> None:
        self.partition = partition
        self.topic = topic
        self.index = index
        self.version = version
        self.offsets = _OFFSETS if version >= LOG_START_FROM else _OLD_OFFSETS
        base, time, start = _MARKERS
        answer = PartitionProduceResponse(
            index=index, base_offset=base, log_append_time_ms=time, log_start_offset=start
        )
        data = encode(self.response(answer), version)
        self.head, self.tail = data.split(self._packed(base, time, start), 1)

    @property
    def offset_count(self) -> int:
        """How many numbers stand between `head` and `tail`: base offset, append time, start."""
        return self.offsets.size // _BASE_OFFSET_BYTES

    def answer(self, base_offset: int, append_time_ms: int) -> Encoded:
        start = self.partition.log_start_offset
        return Encoded([self.head, self._packed(base_offset, append_time_ms, start), self.tail])

    def response(self, answer: PartitionProduceResponse) -> ProduceResponse:
        """The whole of a reply in which this is the answer for the partition."""
        topic = TopicProduceResponse(
            name=self.topic.name, topic_id=self.topic.topic_id, partition_responses=[answer]
        )
        return ProduceResponse(responses=[topic])

    def _packed(self, base_offset: int, append_time_ms: int, log_start_offset: int) -> bytes:
        if self.offsets is _OFFSETS:
            return _OFFSETS.pack(base_offset, append_time_ms, log_start_offset)
        return _OLD_OFFSETS.pack(base_offset, append_time_ms)


class Acknowledgement:
    """A reply that waits for its records to be durable."""

    __slots__ = ("append_time_ms", "base_offset", "later", "place")

    def __init__(self, place: Place, base_offset: int, append_time_ms: int) -> None:
        self.place = place
        self.base_offset = base_offset
        self.append_time_ms = append_time_ms
        self.later = Later()

    def told(self, error: Exception | None) -> None:
        if error is None:
            self.later.finish(self.place.answer(self.base_offset, self.append_time_ms))
        else:
            self.later.finish(self.place.response(refused(self.place.index, error)))


class FastProduce:
    """Answers common Produce requests of one broker; `SLOW` for any other."""

    def __init__(self) -> None:
        self._places: dict[tuple[bytes, int, int], Place] = {}
        self._places_max = PLACES_MIN

    def handle(self, frame: bytes, position: int, context: Context) -> Answer:
        """Like a handler, from the frame itself; its message begins at `position`."""
        version = context.version
        found = common(frame, position, version)
        if found is None:
            return SLOW
        acks, topic, index, records = found
        if version < ZSTD_FROM and uses_zstd(records):
            return SLOW
        place = self._places.get((topic, index, version))
        if place is None or place.partition.is_closed:
            place = find_place(context.broker, topic, index, version)
            if place is None:
                return SLOW
            if len(self._places) >= self._places_max:
                self._forget_closed()
            self._places[topic, index, version] = place
        partition = place.partition
        if context.broker.opens_apart(partition, records):
            return SLOW
        try:
            appended = context.broker.append(partition, records)
        except ANSWERABLE as error:
            if acks == 0:
                raise HangUp from error
            return place.response(refused(place.index, error, partition, records))
        if acks == 0:
            return None
        if acks == 1 or appended.end_offset <= partition.high_watermark:
            return place.answer(appended.base_offset, appended.append_time_ms)
        waiting = Acknowledgement(place, appended.base_offset, appended.append_time_ms)
        partition.waiting.tell(appended.end_offset, waiting.told)
        return waiting.later

    def _forget_closed(self) -> None:
        """Lets go of partitions that are gone, and of all of them when there are too many."""
        live = {key: place for key, place in self._places.items() if not place.partition.is_closed}
        self._places = live if len(live) < PLACES_MAX else {}
        self._places_max = max(PLACES_MIN, 2 * len(self._places))


def find_place(broker: Broker, topic: bytes, index: int, version: int) -> Place | None:
    """Where a common request goes, if there is such a place.

    `topic` is a name, or an id from version 13 on.
    """
    try:
        is_id = version >= TOPIC_IDS_FROM
        name = broker.topic_by_id(topic).name if is_id else topic.decode()
        found = broker.writable_topic(name)
        partition = broker.partition(found, index)
    except (UnicodeDecodeError, InternalTopic, UnknownTopic, UnknownTopicId, OSError):
        return None
    return Place(partition, found, index, version)


# Acks, topic (its name, or its id from version 13 on), partition, records.
Common = tuple[int, bytes, int, memoryview]


def common(frame: bytes, position: int, version: int) -> Common | None:
    """Reads the message at `position` of a frame; None when it is not of the common kind."""
    try:
        if version >= TOPIC_IDS_FROM:
            return _read_with_id(frame, position)
        if version >= FLEXIBLE_FROM:
            return _read_flexible(frame, position)
        return _read_plain(frame, position)
    except (IndexError, struct.error, WireError):
        return None


def _read_with_id(frame: bytes, position: int) -> Common | None:
    transaction, acks, _, topics, topic_id = _START_WITH_ID.unpack_from(frame, position)
    if transaction or topics != 2 or acks not in (-1, 0, 1):
        return None
    return _read_records(frame, position + _START_WITH_ID.size, acks, topic_id)


def _read_flexible(frame: bytes, position: int) -> Common | None:
    transaction, acks, _, topics, name_length = _FLEXIBLE_START.unpack_from(frame, position)
    if transaction or topics != 2 or not 1 < name_length < 128 or acks not in (-1, 0, 1):
        return None
    start = position + _FLEXIBLE_START.size
    end = start + name_length - 1
    return _read_records(frame, end, acks, frame[start:end])


def _read_records(frame: bytes, position: int, acks: int, topic: bytes) -> Common | None:
    partitions, index = _FLEXIBLE_PARTITION.unpack_from(frame, position)
    size, records = read_uvarint(frame, position + _FLEXIBLE_PARTITION.size)
    records_end = records + size - 1
    # Three sections of tagged fields follow, all of them empty.
    if partitions != 2 or size < 1 or frame[records_end:] != b"\0\0\0":
        return None
    return acks, topic, index, memoryview(frame)[records:records_end]


def _read_plain(frame: bytes, position: int) -> Common | None:
    transaction, acks, _, topics, name_length = _PLAIN_START.unpack_from(frame, position)
    if transaction != -1 or topics != 1 or name_length < 1 or acks not in (-1, 0, 1):
        return None
    start = position + _PLAIN_START.size
    end = start + name_length
    partitions, index, size = _PLAIN_PARTITION.unpack_from(frame, end)
    records = end + _PLAIN_PARTITION.size
    if partitions != 1 or size < 0 or records + size != len(frame):
        return None
    return acks, frame[start:end], index, memoryview(frame)[records:]
