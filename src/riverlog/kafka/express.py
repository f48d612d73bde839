"""The express lane: common Produce requests of many clients, taken and answered together.

A client whose last request was a common Produce, and that waits for nothing, is read from in C.
What came for one partition from all of them in a turn of the loop is appended in one piece, and
answered in one go when it is durable. A client that sends anything else leaves the lane with it,
and its connection goes on as if nothing had been.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from riverlog.broker.broker import Broker
from riverlog.config import DoorLimits
from riverlog.kafka.budget import Budget
from riverlog.kafka.fast_produce import FLEXIBLE_FROM, Place, common, find_place
from riverlog.kafka.flushing import Flushing
from riverlog.kafka.handlers.produce import refused
from riverlog.kernel.express import FRAME_BYTES_MAX, Back, Group, NativeExpress, Request
from riverlog.log.batches import Mark
from riverlog.log.partition import Partition
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.codec import encode
from riverlog.protocol.frames import framed
from riverlog.protocol.headers import START_BYTES, response_header
from riverlog.runtime.logs import get

log = get(__name__)

PLACES_MAX = 10_000
REQUESTS_MAX = 65_536


class Passenger(Protocol):
    """A connection, as far as the lane is concerned."""

    def note_asked(self) -> None:
        """Its client has sent something."""

    def left(self, rest: bytes, *, is_waiting: bool) -> None:
        """Goes on by itself, with `rest`; if it `is_waiting`, replies from the lane may come."""

    def take_replies(self, data: bytes, *, is_last: bool) -> None:
        """Sends replies to what was asked in the lane, before any other.

        Who is still in the lane has left it by this.
        """

    def answer_apart(self, frame: bytes, told: Callable[[bytes], None]) -> None:
        """Answers a request the ordinary way, but tells the reply, a whole frame, to `told`."""

    def abort(self) -> None:
        """Breaks the connection at once."""


class Arrived:
    """The batches of a group: see `Batches`."""

    __slots__ = (
        "_group", "_native", "batch_bytes_max", "has_producers", "record_count", "size_bytes",
        "time_max_ms", "time_min_ms",
    )  # fmt: skip

    def __init__(self, native: NativeExpress, group: Group) -> None:
        self._native = native
        self._group = group
        self.size_bytes = group.size_bytes
        self.record_count = group.record_count
        self.time_min_ms = group.time_min_ms
        self.time_max_ms = group.time_max_ms
        self.batch_bytes_max = group.batch_bytes_max
        self.has_producers = bool(group.has_producers)

    def placed(self, base_offset: int, leader_epoch: int) -> tuple[bytearray, list[Mark]]:
        data, marks = self._native.fill(self._group, base_offset, leader_epoch)
        return data, [Mark(*mark) for mark in marks]


class Express:
    """The lane of one listener; belongs to one event loop."""

    def __init__(
        self, broker: Broker, limits: DoorLimits, budget: Budget, flushing: Flushing
    ) -> None:
        self._broker = broker
        self._budget = budget
        self._flushing = flushing
        self._native = NativeExpress(
            limits.connections_max, PLACES_MAX, REQUESTS_MAX, limits.requests_in_flight_max
        )
        self._passengers: dict[int, Passenger] = {}
        self._places: list[Place] = []
        self._known: dict[tuple[bytes, int, int], Place] = {}
        self._partitions: list[Partition] = []
        self._numbers: dict[Partition, int] = {}
        self._held_bytes = 0
        self.taken_count = 0
        self._is_flush_due = False
        self._is_in_turn = False
        self._is_reading = False
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        self._read()

    @property
    def is_full(self) -> bool:
        """Whether no more topics can be learnt; those that were deleted are never unlearnt."""
        # One place may have had many partitions: its topic was deleted and made again.
        return max(len(self._places), len(self._partitions)) >= PLACES_MAX

    @property
    def is_empty(self) -> bool:
        return not self._passengers

    @property
    def knows_deleted(self) -> bool:
        """Whether it holds on to what is gone."""
        return any(partition.is_closed for partition in self._partitions)

    @property
    def descriptor(self) -> int:
        """What it waits on."""
        return self._native.descriptor

    def close(self) -> None:
        """Ends the lane; who is still in it is broken off."""
        for passenger in list(self._passengers.values()):
            passenger.abort()
        self._stop_reading()
        self._is_closed = True
        self._native.close()

    # Who comes and goes.

    def enter(
        self, passenger: Passenger, descriptor: int, frame: bytes, header: bytes, version: int
    ) -> int | None:
        """Takes a client over whose last request was `frame`; its number in the lane, if it may.

        `header` is what follows the correlation id in all its requests. From now on nobody else
        may read or write at `descriptor`, until the passenger has left.
        """
        if len(frame) >= FRAME_BYTES_MAX or self._is_closed:
            return None
        found = common(frame, START_BYTES + len(header), version)
        if found is None:
            return None
        acks, topic, index, _ = found
        if not acks or not self._learn(topic, index, version):
            return None
        number = self._native.add(descriptor, version, header)
        if number < 0:
            return None
        self._passengers[number] = passenger
        return number

    def leave(self, number: int) -> None:
        """Gives a client back to its connection."""
        self._let_off(number, self._native.leave(number))

    def forget(self, number: int) -> None:
        """The client is gone; its socket must still be open."""
        if self._passengers.pop(number, None) is not None and not self._is_closed:
            self._native.forget(number)
            self._count_held()

    def note_who_asked(self) -> None:
        """Tells every passenger that sent anything since the last time."""
        for number in self._native.asked():
            self._passengers[number].note_asked()

    def _let_off(self, number: int, rest: bytes) -> None:
        passenger = self._passengers[number]
        is_waiting = self._native.pending(number) > 0
        if not is_waiting:
            self.forget(number)
        passenger.left(rest, is_waiting=is_waiting)

    def _learn(self, topic: bytes, index: int, version: int) -> bool:
        """Makes a place known in C; False if there is none, or no room for it."""
        place = self._known.get((topic, index, version))
        if place is not None and not place.partition.is_closed:
            return True
        place = find_place(self._broker, topic, index, version)
        if place is None or self.is_full:
            return False
        number = self._numbers.get(place.partition)
        if number is None:
            number = self._numbers[place.partition] = len(self._partitions)
            self._partitions.append(place.partition)
        header = b"\0" if version >= FLEXIBLE_FROM else b""
        reply = header + place.head, place.tail
        found = self._native.place(topic, index, version, number, reply, place.offset_count)
        if found < 0:
            return False
        if found == len(self._places):
            self._places.append(place)
        self._places[found] = self._known[topic, index, version] = place
        return True

    # Requests.

    def _read(self) -> None:
        if not (self._is_reading or self._is_closed):
            self._is_reading = True
            self._loop.add_reader(self._native.descriptor, self._turn)

    def _stop_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._native.descriptor)

    def _turn(self) -> None:
        """Takes what all passengers have sent by now."""
        if self._budget.is_exhausted:
            self._stop_reading()
            self._budget.when_there_is_room(self._read)
            return
        now_s = self._loop.time()
        self._budget.turns.begin(self, now_s)
        self._budget.turns.note_brief(now_s)
        groups, backs = self._native.turn()
        self._is_in_turn = True
        self._broker.gather()
        try:
            self._take(groups, backs)
        finally:
            self._is_in_turn = False
            # Only now, so that those whose batches are durable at once are answered at once.
            self._broker.commit_soon()

    def _take(self, groups: list[Group], backs: list[Back]) -> None:
        try:
            for group in groups:
                self.taken_count += group.request_count
                self._append(group)
        except Exception as failure:  # noqa: BLE001  # as in a connection: our own mistake
            log.error("requests failed", failure=failure)  # noqa: TRY400  # as above
            for passenger in list(self._passengers.values()):
                passenger.abort()
            return
        self._count_held()
        for back in backs:
            self._let_off(back.client, back.data)
        if self._budget.holds_too_much and self._held_bytes:
            for number in list(self._passengers):
                self.leave(number)

    def _append(self, group: Group) -> None:
        partition = self._partitions[group.partition]
        end_offset = self._broker.append_all(partition, Arrived(self._native, group))
        if end_offset is None:
            for request in self._native.requests(group):
                self._answer_apart(request)
            return
        waiting_count = group.waiting_count
        if waiting_count < group.request_count:
            self._native.tell(group, partition.log_start_offset, is_durable=not waiting_count)
            self._flush_soon()
        if waiting_count:
            self._budget.take(group.size_bytes)
            partition.waiting.tell(end_offset, partial(self._settle, group, partition))

    def _settle(self, group: Group, partition: Partition, error: Exception | None) -> None:
        """The batches of a group are durable, or never will be."""
        if self._is_closed:
            return
        self._budget.release(group.size_bytes)
        if error is None:
            self._native.tell(group, partition.log_start_offset, is_durable=True)
        else:
            for request in self._native.requests(group):
                place = self._places[request.place]
                answer = encode(place.response(refused(place.index, error)), place.version)
                is_flexible = place.version >= FLEXIBLE_FROM
                header = response_header(ApiKey.PRODUCE, request.correlation_id, is_flexible)
                self._native.answer(request.number, b"".join(framed([header, answer])))
        self._flush_soon()

    def _answer_apart(self, request: Request) -> None:
        """Answers one request of a group that cannot be taken as a whole."""

        def told(reply: bytes) -> None:
            if not self._is_closed:
                self._native.answer(request.number, reply)
                self._flush_soon()

        passenger = self._passengers.get(request.client)
        if passenger is None:
            told(b"")
        else:
            passenger.answer_apart(self._native.frame(request), told)

    # Replies.

    def _flush_soon(self) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            self._flushing.add(self)

    def start_and_flush(self) -> None:
        """Sends the replies that are ready."""
        self._is_flush_due = False
        if self._is_in_turn:
            # Who leaves in this turn is given what it has sent before it is given its last replies.
            self._flush_soon()
            return
        while not self._is_closed and (backs := self._native.flush()):
            for back in backs:
                passenger = self._passengers[back.client]
                if back.is_drained:
                    self.forget(back.client)
                passenger.take_replies(back.data, is_last=back.is_drained)

    def _count_held(self) -> None:
        """Counts what is held of unfinished requests."""
        held_bytes = self._native.rest_bytes
        self._budget.bytes_held += held_bytes - self._held_bytes
        self._held_bytes = held_bytes
