"""The common Fetch request, read and answered without making messages of it.

One partition and no session: a consumer asks for that over and over, and only the offset changes.
The bytes of question and reply come from the tables themselves, taken apart when a question comes
for the first time; any other request, and any refusal, takes the ordinary way through
`handlers/fetch.py`.
"""

from copy import copy
from struct import Struct

from riverlog.kafka.apis import SLOW, Answer, Context
from riverlog.kafka.errors import ANSWERABLE
from riverlog.kafka.fetch_sessions import Wanted
from riverlog.kafka.handlers.fetch import READ_COMMITTED, TOPIC_IDS_FROM, Asked, read_partition
from riverlog.kafka.later import Encoded
from riverlog.kafka.parking import park
from riverlog.log.partition import Partition
from riverlog.protocol.codec import encode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from riverlog.protocol.wire import Buffer, uvarint

LOG_START_FROM = 5
FLEXIBLE_FROM = 12
QUESTIONS_MAX = 1_000

_NO_SESSION = 0, -1
_OFFSET = Struct(">q")
_OFFSETS = Struct(">qqq")
_LENGTH = Struct(">i")

# Values that stand for themselves in an encoded reply, to find where others go.
_MARKERS = (0x0102030405060708, 0x1112131415161718, 0x2122232425262728)
_RECORDS = b"where records go"


class Question:
    """What a client asks again and again, for one offset or another, and how it is answered."""

    __slots__ = (
        "_head", "_is_flexible", "_middle", "_tail", "_topic", "bytes_max", "log", "request",
    )  # fmt: skip

    def __init__(self, request: FetchRequest, log: Partition, version: int) -> None:
        topic = request.topics[0]
        asked = topic.partitions[0]
        self.request = request
        self.log = log
        self.bytes_max = asked.partition_max_bytes
        self._topic = topic.topic_id if version >= TOPIC_IDS_FROM else topic.topic
        self._is_flexible = version >= FLEXIBLE_FROM
        high_watermark, last_stable, log_start = _MARKERS
        marked = PartitionData(
            partition_index=asked.partition,
            high_watermark=high_watermark,
            last_stable_offset=last_stable,
            log_start_offset=log_start,
            aborted_transactions=[] if request.isolation_level == READ_COMMITTED else None,
            records=_RECORDS,
        )
        self._head, rest = encode(self._response(marked), version).split(_OFFSETS.pack(*_MARKERS))
        before, self._tail = rest.split(_RECORDS)
        self._middle = before.removesuffix(self._length(len(_RECORDS)))

    def reply(self, records: Buffer) -> Encoded:
        """The reply that gives these records."""
        log, size = self.log, len(records)
        offsets = _OFFSETS.pack(log.high_watermark, log.high_watermark, log.log_start_offset)
        start = b"".join((self._head, offsets, self._middle, self._length(size)))
        return Encoded([start, records, self._tail])

    def ordinary_reply(self, offset: int) -> FetchResponse:
        """The reply that says what is wrong."""
        asked = self.request.topics[0].partitions[0]
        wanted = Wanted(
            self._topic, asked.partition, offset, asked.current_leader_epoch, self.bytes_max
        )
        return self._response(
            read_partition(self.request, Asked(wanted, self.log, ErrorCode.NONE), self.bytes_max)
        )

    def _response(self, answer: PartitionData) -> FetchResponse:
        key = self._topic
        topic = (
            FetchableTopicResponse(topic_id=key, partitions=[answer])
            if isinstance(key, bytes)
            else FetchableTopicResponse(topic=key, partitions=[answer])
        )
        return FetchResponse(responses=[topic])

    def _length(self, size: int) -> bytes:
        return uvarint(size + 1) if self._is_flexible else _LENGTH.pack(size)


class FastFetch:
    """Answers questions that were asked before; `SLOW` for any other."""

    def __init__(self) -> None:
        # By version, and by what stands before and behind the offset.
        self._known: dict[tuple[int, bytes, bytes], Question] = {}
        # Where the offset stands in a message, by its version and size.
        self._places: dict[tuple[int, int], set[int]] = {}

    def __len__(self) -> int:
        """How many questions it knows."""
        return len(self._known)

    def handle(self, frame: bytes, position: int, context: Context) -> Answer:
        """Like a handler, from the frame itself; its message begins at `position`."""
        version = context.version
        for at in self._places.get((version, len(frame) - position), ()):
            start, end = position + at, position + at + _OFFSET.size
            question = self._known.get((version, frame[position:start], frame[end:]))
            if question is not None:
                return self._answer(question, _OFFSET.unpack_from(frame, start)[0], context)
        return SLOW

    def _answer(self, question: Question, offset: int, context: Context) -> Answer:
        log, request = question.log, question.request
        if log.is_closed:
            self._forget_all()
        if log.is_closed or log.has_unchecked:
            return SLOW

        def look(is_late: bool) -> Encoded | None:
            # All of this is as in the ordinary way.
            room = min(request.max_bytes, context.fetch_bytes_max())
            records = log.read(offset, max(min(question.bytes_max, room), 1))
            size = len(records)
            if size >= request.min_bytes or size > room // 2 or is_late:
                return question.reply(records)
            return None

        def look_again(is_late: bool) -> Encoded | FetchResponse | None:
            try:
                if not log.is_closed:
                    return look(is_late or context.broker.is_stopping)
            except ANSWERABLE:
                pass
            return question.ordinary_reply(offset)

        try:
            answer = look(request.max_wait_ms <= 0)
        except ANSWERABLE:
            return SLOW
        return park([log], request.max_wait_ms, look_again) if answer is None else answer

    def learn(self, request: FetchRequest, log: Partition, version: int) -> None:
        """Knows a question from now on, if it is a common one: for `log`, and that alone."""
        if version < LOG_START_FROM or (request.session_id, request.session_epoch) != _NO_SESSION:
            return
        if request.topics[0].partitions[0].last_fetched_epoch >= 0:
            return
        first, other = (_encoded(request, offset, version) for offset in (0, -1))
        at = next(at for at in range(len(first)) if first[at] != other[at])
        key = version, first[:at], first[at + _OFFSET.size :]
        if key in self._known:
            return
        is_full = len(self._known) >= QUESTIONS_MAX
        if is_full or any(known.log.is_closed for known in self._known.values()):
            self._forget_all()
        self._known[key] = Question(request, log, version)
        self._places.setdefault((version, len(first)), set()).add(at)

    def _forget_all(self) -> None:
        self._known.clear()
        self._places.clear()


def _encoded(request: FetchRequest, offset: int, version: int) -> bytes:
    """The request, if it asked for this offset."""
    request, topic = copy(request), copy(request.topics[0])
    asked = copy(topic.partitions[0])
    asked.fetch_offset = offset
    topic.partitions = [asked]
    request.topics = [topic]
    return encode(request, version)
