"""A lane under every mishap: what it says of a record is true of the log, and order is kept."""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import Enum, auto

from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import ClientError, Refused, TooLarge, Unconfirmed
from riverlog.client.lane import IN_FLIGHT_MAX, Batch, Identity, Lane, Miss
from riverlog.client.waiting import Backoff, Deadline
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance
from tests.client.partition_model import OutOfSequence, PartitionModel

BAD = b"bad"
TIMEOUT_MS = 200
BATCH_RECORDS_MAX = 4


class Step(Enum):
    """What may happen next."""

    ADD = auto()
    ADD_BAD = auto()
    SEND = auto()
    ANSWER = auto()
    ANSWER_LATE = auto()  # The broker appends, and says that it does not know.
    REFUSE = auto()
    OVERTAKE = auto()  # While connections come and go, the last may arrive before the first.
    CUT_AFTER_ARRIVAL = auto()
    CUT_BEFORE_ARRIVAL = auto()
    PASS_TIME = auto()
    FORGET_PRODUCERS = auto()


class Play:
    """A lane, the partition it sends to, and what is under way between them."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        loop = asyncio.get_running_loop()
        new_future: Callable[[], asyncio.Future[None]] = loop.create_future
        backoff = Backoff(SeededChance(1), 10, 100)
        self.lane = Lane("t", 0, 100, backoff, new_future)
        self.model = PartitionModel()
        self.added: list[tuple[bytes, Batch, int]] = []
        self.in_flight: deque[Batch] = deque()
        self._identities = 0

    def add(self, value: bytes) -> None:
        deadline = Deadline(self.clock, TIMEOUT_MS)
        self.added.append((value, *self.lane.add(0, None, value, (), 20, deadline)))

    def send(self) -> None:
        batch = self.lane.take(self.clock.monotonic_ms())
        if batch is None:
            return
        if self.lane.identity is None:
            self._identities += 1
            self.lane.identity = Identity(self._identities, 0)
            assert self.lane.identity != self.lane.spent
        self.in_flight.append(batch)
        assert len(self.in_flight) <= IN_FLIGHT_MAX

    def answer(self, step: Step) -> None:
        batch = self.in_flight.popleft()
        now_ms = self.clock.monotonic_ms()
        trouble: Exception = Refused("NOT_LEADER_OR_FOLLOWER", "not here")
        if step is Step.REFUSE:
            self.lane.missed(batch, Miss.PASSING, trouble, now_ms)
        elif len(batch.records) > BATCH_RECORDS_MAX:
            self.lane.missed(batch, Miss.OVERSIZED, TooLarge("too large"), now_ms)
        elif any(record.value == BAD for record in batch.records):
            self.lane.missed(batch, Miss.FINAL, Refused("INVALID_RECORD", "bad"), now_ms)
        else:
            offset = self.arrive(batch)
            if offset is None:
                self.lane.missed(batch, Miss.IDENTITY, trouble, now_ms)
            elif step is Step.ANSWER_LATE:
                self.lane.missed(batch, Miss.UNCERTAIN, trouble, now_ms)
            else:
                self.lane.confirm(batch, offset, now_ms)

    def arrive(self, batch: Batch) -> int | None:
        assert self.lane.identity is not None
        try:
            return self.model.append(self.lane.identity, batch)
        except OutOfSequence:
            return None

    def cut(self, *, arrived: bool) -> None:
        lost = ConnectionLost("cut", was_sent=True)
        while self.in_flight:
            batch = self.in_flight.popleft()
            if (
                arrived
                and len(batch.records) <= BATCH_RECORDS_MAX
                and all(record.value != BAD for record in batch.records)
            ):
                self.arrive(batch)
            self.lane.missed(batch, Miss.UNCERTAIN, lost, self.clock.monotonic_ms())

    def act(self, step: Step, number: int) -> None:
        match step:
            case Step.ADD:
                self.add(b"%d" % number)
            case Step.ADD_BAD:
                self.add(BAD)
            case Step.SEND:
                self.send()
            case Step.ANSWER | Step.ANSWER_LATE | Step.REFUSE if self.in_flight:
                self.answer(step)
            case Step.OVERTAKE:
                self.in_flight.rotate(1)
            case Step.CUT_AFTER_ARRIVAL | Step.CUT_BEFORE_ARRIVAL:
                self.cut(arrived=step is Step.CUT_AFTER_ARRIVAL)
            case Step.FORGET_PRODUCERS:
                self.model.forget_producers()
            case Step.PASS_TIME:
                self.clock.advance_ms(TIMEOUT_MS // 2)

    def finish(self) -> None:
        """From now on all goes well."""
        while not self.lane.is_idle:
            self.send()
            if self.in_flight:
                self.answer(Step.ANSWER)
            self.clock.advance_ms(10)

    def verdicts(self) -> list[tuple[bytes, int | ClientError]]:
        told: list[tuple[bytes, int | ClientError]] = []
        for value, batch, index in self.added:
            try:
                told.append((value, batch.offset_of(index)))
            except ClientError as error:
                told.append((value, error))
        return told


LIKELY = [Step.ADD, Step.ADD, Step.SEND, Step.SEND, Step.SEND, Step.ANSWER, Step.PASS_TIME]
steps = st.lists(st.sampled_from([*LIKELY, *Step]), min_size=20, max_size=150)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_what_is_said_of_a_record_is_true_of_the_log(played: list[Step]) -> None:
    async def play() -> None:
        playing = Play()
        for number, step in enumerate(played):
            playing.act(step, number)
        playing.finish()
        await asyncio.sleep(0)

        log = playing.model.log
        values = [value for value, _, _ in playing.added if value != BAD]
        assert len(log) == len(set(log)), "a record is there twice"
        assert log == [value for value in values if value in set(log)], "order was not kept"
        for value, verdict in playing.verdicts():
            if isinstance(verdict, int):
                assert log[verdict] == value
            elif not isinstance(verdict, Unconfirmed):
                assert value not in log, f"{value!r} is there, and was said not to be: {verdict!r}"
        assert all(batch.done.done() for _, batch, _ in playing.added)

    asyncio.run(play())


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_only_bad_records_and_their_batches_fail_when_the_broker_answers(goods: list[bool]) -> None:
    async def play() -> None:
        playing = Play()
        for number, is_good in enumerate(goods):
            playing.add(b"%d" % number if is_good else BAD)
        bad_batches = {id(batch) for value, batch, _ in playing.added if value == BAD}
        playing.finish()
        for (value, batch, _), (_, verdict) in zip(playing.added, playing.verdicts(), strict=True):
            if id(batch) not in bad_batches:
                assert isinstance(verdict, int), f"{value!r}: {verdict!r}"

    asyncio.run(play())


async def test_a_batch_too_large_is_halved_until_it_fits() -> None:
    playing = Play()
    for number in range(5):
        playing.add(b"%d" % number)
    assert len({id(batch) for _, batch, _ in playing.added}) == 1

    playing.finish()
    await asyncio.sleep(0)

    assert playing.model.log == [b"0", b"1", b"2", b"3", b"4"]
    assert [verdict for _, verdict in playing.verdicts()] == [0, 1, 2, 3, 4]


async def test_a_broker_that_lost_its_memory_of_us_is_given_a_new_identity() -> None:
    playing = Play()
    playing.add(b"first")
    playing.send()
    playing.answer(Step.ANSWER)
    playing.model.forget_producers()

    playing.add(b"second")
    playing.finish()

    assert playing.model.log == [b"first", b"second"]
    assert playing.lane.spent == Identity(1, 0)


async def test_closing_tells_what_was_under_way_from_what_never_left() -> None:
    playing = Play()
    playing.add(b"sent")
    playing.send()
    playing.add(b"unsent")
    playing.lane.abandon(Refused("CLOSED", "closed"))
    (_, sent), (_, unsent) = playing.verdicts()
    assert isinstance(sent, Unconfirmed)
    assert isinstance(unsent, Refused)
