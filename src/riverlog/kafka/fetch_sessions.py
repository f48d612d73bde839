"""Fetch sessions: what a client fetches is remembered, and it is told only what changed. Pure.

A full request, epoch 0, begins a session. Requests that go on with it carry its id and the next
epoch, and name only partitions that are new, changed or forgotten; replies leave out those of
which nothing is new. Epoch -1 asks for a full reply and no session.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from riverlog.cluster.topics import NAME_LENGTH_MAX
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

SESSIONS_MAX = 1_000
# A session that was used since may be needed again: it is not given up for a new one.
IDLE_MS_MIN = 120_000
# Bounds of memory; who wants more is served without a session.
SESSION_PARTITIONS_MAX = 10_000
PARTITIONS_MAX = 200_000

_NO_SESSION = 0
_BEGIN = 0
_FINAL = -1
_EPOCH_MAX = 2**31 - 1

# A topic's name up to version 12, its id from version 13 on.
TopicKey = str | bytes
NewId = Callable[[], int]


@dataclass(slots=True)
class Wanted:
    """One partition that a client fetches, and what it was last told of it."""

    topic: TopicKey
    index: int
    offset: int
    leader_epoch: int
    bytes_max: int
    read_epoch: int = -1
    told: tuple[int, int] | None = None

    def tell(self, answer: PartitionData) -> bool:
        """Notes what the client is told, and says whether any of it is new."""
        was_told = self.told
        self.told = (answer.high_watermark, answer.log_start_offset)
        if answer.error_code != ErrorCode.NONE:
            self.told = None  # That the error is gone will be news too.
        if answer.records or answer.diverging_epoch is not None:
            return True
        return self.told is None or self.told != was_told


PartitionKey = tuple[TopicKey, int]


@dataclass(slots=True)
class Session:
    """What one client fetches, in the order in which it is read."""

    id: int
    uses_ids: bool
    partitions: dict[PartitionKey, Wanted]
    last_used_ms: int
    epoch: int = 1

    def update(self, changed: dict[PartitionKey, Wanted], gone: Iterable[PartitionKey]) -> None:
        for key, wanted in changed.items():
            known = self.partitions.get(key)
            if known is not None:
                wanted.told = known.told
            self.partitions[key] = wanted
        for key in gone:
            self.partitions.pop(key, None)
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def put_last(self, wanted: Wanted) -> None:
        """Lets the other partitions come first next time, as a reply may be full early."""
        key = wanted.topic, wanted.index
        self.partitions[key] = self.partitions.pop(key)


@dataclass(slots=True)
class Fetch:
    """One request: the partitions to read, in this order, and the session it belongs to."""

    wanted: list[Wanted]
    uses_ids: bool
    begins_session: bool = False
    session: Session | None = None
    epoch: int = field(default=_FINAL)


class FetchSessions:
    """The sessions of one broker."""

    def __init__(self) -> None:
        self._by_id: dict[int, Session] = {}  # The one unused for longest comes first.
        self._partition_count = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def begin(self, request: FetchRequest, *, uses_ids: bool, now_ms: int) -> Fetch | ErrorCode:
        """What to read for a request, or why its session cannot go on.

        On an error the client begins again, with a full request.
        """
        wanted = _wanted(request, uses_ids)
        if request.session_epoch in (_BEGIN, _FINAL):
            self._drop(request.session_id)
            begins_session = request.session_epoch == _BEGIN and _can_be_kept(wanted)
            return Fetch(list(wanted.values()), uses_ids, begins_session)
        session = self._by_id.get(request.session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != request.session_epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.uses_ids != uses_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        self._drop(session.id)
        session.update(wanted, _forgotten(request, uses_ids))
        if not session.partitions:
            return Fetch([], uses_ids)
        if not (_can_be_kept(wanted) and self._make_room(session, now_ms)):
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        self._keep(session, now_ms)
        partitions = list(session.partitions.values())
        return Fetch(partitions, uses_ids, session=session, epoch=session.epoch)

    def reply(
        self, fetch: Fetch, answers: Sequence[PartitionData], *, now_ms: int, new_id: NewId
    ) -> FetchResponse:
        """The reply to a request, given an answer for each partition that it wanted."""
        session = fetch.session
        told = list(zip(fetch.wanted, answers, strict=True))
        if session is not None:
            if session.epoch != fetch.epoch:
                # The client went on meanwhile; it is not waiting for this one any more.
                return refusal(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
            told = [(wanted, answer) for wanted, answer in told if wanted.tell(answer)]
            for wanted, answer in told:
                if answer.records:
                    session.put_last(wanted)
        elif fetch.begins_session:
            session = self._create(fetch, now_ms, new_id)
            for wanted, answer in told:
                wanted.tell(answer)
        session_id = _NO_SESSION if session is None else session.id
        return FetchResponse(session_id=session_id, responses=_by_topic(told))

    def _create(self, fetch: Fetch, now_ms: int, new_id: NewId) -> Session | None:
        partitions = {(wanted.topic, wanted.index): wanted for wanted in fetch.wanted}
        session = Session(_NO_SESSION, fetch.uses_ids, partitions, now_ms)
        if not partitions or not self._make_room(session, now_ms):
            return None
        while session.id in self._by_id or session.id == _NO_SESSION:
            session.id = new_id()
        self._keep(session, now_ms)
        return session

    def _make_room(self, session: Session, now_ms: int) -> bool:
        """Gives up idle sessions until this one fits; says whether it does."""
        if len(session.partitions) > SESSION_PARTITIONS_MAX:
            return False
        count_max = PARTITIONS_MAX - len(session.partitions)
        while len(self._by_id) >= SESSIONS_MAX or self._partition_count > count_max:
            oldest = next(iter(self._by_id.values()), None)
            if oldest is None or now_ms - oldest.last_used_ms <= IDLE_MS_MIN:
                return False
            self._drop(oldest.id)
        return True

    def _keep(self, session: Session, now_ms: int) -> None:
        session.last_used_ms = now_ms
        self._by_id[session.id] = session
        self._partition_count += len(session.partitions)

    def _drop(self, session_id: int) -> None:
        session = self._by_id.pop(session_id, None)
        if session is not None:
            self._partition_count -= len(session.partitions)


def refusal(code: ErrorCode) -> FetchResponse:
    """The reply to a request whose session cannot go on."""
    return FetchResponse(error_code=code, responses=[])


def _wanted(request: FetchRequest, uses_ids: bool) -> dict[PartitionKey, Wanted]:
    found: dict[PartitionKey, Wanted] = {}
    for topic in request.topics:
        key: TopicKey = topic.topic_id if uses_ids else topic.topic
        for asked in topic.partitions:
            found[key, asked.partition] = Wanted(
                key,
                asked.partition,
                asked.fetch_offset,
                asked.current_leader_epoch,
                asked.partition_max_bytes,
                asked.last_fetched_epoch,
            )
    return found


def _forgotten(request: FetchRequest, uses_ids: bool) -> Iterable[PartitionKey]:
    for topic in request.forgotten_topics_data:
        key: TopicKey = topic.topic_id if uses_ids else topic.topic
        for index in topic.partitions:
            yield key, index


def _can_be_kept(partitions: Iterable[PartitionKey]) -> bool:
    """Whether no name among them is longer than a topic's can be."""
    return all(len(topic) <= NAME_LENGTH_MAX for topic, _ in partitions)


def _by_topic(told: Iterable[tuple[Wanted, PartitionData]]) -> list[FetchableTopicResponse]:
    topics: dict[TopicKey, list[PartitionData]] = {}
    for wanted, answer in told:
        topics.setdefault(wanted.topic, []).append(answer)
    return [
        FetchableTopicResponse(topic_id=key, partitions=partitions)
        if isinstance(key, bytes)
        else FetchableTopicResponse(topic=key, partitions=partitions)
        for key, partitions in topics.items()
    ]
