"""The C half of the express lane, as Python calls it; `kafka/express.py` says what it is for."""

import ctypes
from collections.abc import Iterator
from ctypes import c_char_p, c_int, c_int32, c_int64, c_uint8, c_void_p
from typing import NamedTuple

from riverlog.kernel.library import library

# As in express.c.
FRAME_BYTES_MAX = 32 * 1024
_EVENTS_MAX = 256
_MARK_BYTES = 4096
_PREFIX_BYTES = 4

_ROOM_BYTES = 512 * 1024
_GROUP_FIELDS = 11
_BACK_FIELDS = 4
_REQUEST_FIELDS = 6

_BYTES = [c_char_p, c_int32]
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "new": (c_void_p, [c_int32] * 4),
    "free": (None, [c_void_p]),
    "poll": (c_int, [c_void_p]),
    "rest_bytes": (c_int64, [c_void_p]),
    "out": (c_void_p, [c_void_p]),
    "pending": (c_int32, [c_void_p, c_int32]),
    "place": (c_int32, [c_void_p, *_BYTES, *[c_int32] * 3, *_BYTES, *_BYTES, c_int32]),
    "add": (c_int32, [c_void_p, c_int, c_int32, c_char_p, c_int32]),
    "leave": (c_int32, [c_void_p, c_int32, c_void_p]),
    "forget": (None, [c_void_p, c_int32]),
    "asked": (c_int32, [c_void_p, c_void_p]),
    "turn": (None, [c_void_p, c_void_p, c_int64, c_void_p, c_int32, *[c_void_p] * 3]),
    "fill": (c_int32, [c_void_p, c_void_p, c_void_p, c_int64, c_int32, c_void_p]),
    "requests": (None, [c_void_p, c_int32, c_void_p]),
    "tell": (None, [c_void_p, c_int32, c_int64, c_int]),
    "answer": (c_int, [c_void_p, c_int32, c_char_p, c_int32]),
    "flush": (c_int32, [c_void_p, c_void_p, c_int32]),
}


class Group(NamedTuple):
    """The requests of one turn for one partition, a linked list that begins at `first`.

    `waiting_count` of them want to be durable before they are answered. Times are -1 where there
    are none.
    """

    partition: int
    first: int
    last: int
    request_count: int
    waiting_count: int
    size_bytes: int
    record_count: int
    time_min_ms: int
    time_max_ms: int
    batch_bytes_max: int
    has_producers: int
    position: int


class Back(NamedTuple):
    """Bytes of a client's, or for it. `is_drained`: nothing of it is under way any more."""

    client: int
    data: bytes
    is_drained: bool


class Request(NamedTuple):
    """One request of a group; `client` is -1 when that is gone.

    Its frame stands at `frame_at` in what the turn has read that brought it.
    """

    number: int
    client: int
    place: int
    correlation_id: int
    frame_at: int
    frame_bytes: int


class NativeExpress:
    """Sockets, requests and replies in C. Not to be used after `close`."""

    def __init__(self, clients_max: int, places_max: int, requests_max: int, deep: int) -> None:
        """`deep` is how many requests of one client may be under way; raises `MemoryError`."""
        loaded = library()
        assert loaded is not None, "ask `is_available` first"
        self._call = {name: getattr(loaded, f"riverlog_express_{name}") for name in _SIGNATURES}
        for name, (result, arguments) in _SIGNATURES.items():
            self._call[name].restype = result
            self._call[name].argtypes = arguments
        self._x = self._call["new"](clients_max, places_max, requests_max, deep)
        if not self._x:
            raise MemoryError
        self._room = (c_uint8 * _ROOM_BYTES)()
        self._groups = (c_int64 * (_GROUP_FIELDS * _EVENTS_MAX))()
        self._groups_at = ctypes.addressof(self._groups)
        self._marks = (c_int64 * (3 * (_ROOM_BYTES // _MARK_BYTES + 1)))()
        self._group_values = memoryview(self._groups).cast("B").cast("q")
        self._backs = (c_int64 * (_BACK_FIELDS * _EVENTS_MAX))()
        self._back_values = memoryview(self._backs).cast("B").cast("q")
        self._clients = (c_int32 * clients_max)()
        self._counts = c_int32(), c_int32()
        self._count_at = tuple(ctypes.addressof(count) for count in self._counts)
        self._turn, self._fill = self._call["turn"], self._call["fill"]
        self._tell, self._flush = self._call["tell"], self._call["flush"]

    def close(self) -> None:
        self._call["free"](self._x)

    @property
    def descriptor(self) -> int:
        """Readable when any client's socket is."""
        number: int = self._call["poll"](self._x)
        return number

    @property
    def rest_bytes(self) -> int:
        """How much is held of requests that are not whole yet."""
        count: int = self._call["rest_bytes"](self._x)
        return count

    def place(
        self,
        topic: bytes,
        index: int,
        version: int,
        partition: int,
        reply: tuple[bytes, bytes],
        offsets: int,
    ) -> int:
        """Has requests for a partition of a topic go to `partition`, -1: nowhere.

        `reply` is what stands before and behind the `offsets` numbers of a reply. Gives the number
        of the place; -1 when there is no room for more.
        """
        head, tail = reply
        number: int = self._call["place"](
            self._x, topic, len(topic), index, version, partition, head, len(head), tail,
            len(tail), offsets,
        )  # fmt: skip
        return number

    def add(self, descriptor: int, version: int, header: bytes) -> int:
        """Reads from a socket from now on; the client's number, -1 if that cannot be."""
        client: int = self._call["add"](self._x, descriptor, version, header, len(header))
        return client

    def leave(self, client: int) -> bytes:
        """Reads from a client no more; what it sent of a request that is not whole."""
        into = (c_uint8 * FRAME_BYTES_MAX)()
        size = self._call["leave"](self._x, client, into)
        return bytes(into[:size])

    def forget(self, client: int) -> None:
        self._call["forget"](self._x, client)

    def pending(self, client: int) -> int:
        count: int = self._call["pending"](self._x, client)
        return count

    def asked(self) -> list[int]:
        """The clients that sent anything since the last time."""
        return list(self._clients[: self._call["asked"](self._x, self._clients)])

    def turn(self) -> tuple[list[Group], list[Back]]:
        """Reads what there is. Clients that something is given back of are read from no more.

        Batches and frames can be had until the next turn.
        """
        self._turn(
            self._x, self._room, _ROOM_BYTES, self._groups, _EVENTS_MAX, self._count_at[0],
            self._backs, self._count_at[1],
        )  # fmt: skip
        groups = []
        values = self._group_values
        for n in range(self._counts[0].value):
            at = n * _GROUP_FIELDS
            groups.append(Group._make([*values[at : at + _GROUP_FIELDS], n]))
        count = self._counts[1].value
        backs = list(self._given_back(count, ctypes.addressof(self._room))) if count else []
        return groups, backs

    def fill(
        self, group: Group, base_offset: int, leader_epoch: int
    ) -> tuple[bytearray, list[tuple[int, int, int]]]:
        """The batches of a group at their place in the log, and marks: position, base offset and
        the largest time before it of a batch every few KiB."""
        data = bytearray(group.size_bytes)
        # An array of its size would be a type of its own, which takes longer to make than all this.
        into = ctypes.byref(c_uint8.from_buffer(data))
        marks = self._marks
        described = self._groups_at + group.position * _GROUP_FIELDS * 8
        count = self._fill(self._x, described, into, base_offset, leader_epoch, marks)
        return data, [(marks[n], marks[n + 1], marks[n + 2]) for n in range(0, 3 * count, 3)]

    def requests(self, group: Group) -> list[Request]:
        """The requests of a group."""
        found = (c_int64 * (_REQUEST_FIELDS * group.request_count))()
        self._call["requests"](self._x, group.first, found)
        return [Request(*row) for row in zip(*[iter(found)] * _REQUEST_FIELDS, strict=True)]

    def frame(self, request: Request) -> bytes:
        """A request as it came, without its length; only until the next turn."""
        start = ctypes.addressof(self._room) + request.frame_at
        return ctypes.string_at(start + _PREFIX_BYTES, request.frame_bytes - _PREFIX_BYTES)

    def tell(self, group: Group, log_start: int, *, is_durable: bool) -> None:
        """Lets requests be answered: those that do not wait, and last of all everyone."""
        self._tell(self._x, group.first, log_start, is_durable)

    def answer(self, number: int, reply: bytes) -> None:
        """Answers one request with a whole frame, instead of `tell`; raises `MemoryError`."""
        if not self._call["answer"](self._x, number, reply, len(reply)):
            raise MemoryError

    def flush(self) -> list[Back]:
        """Sends replies whose turn has come; what could not be sent, and who has left.

        Has to be called again for as long as it gives any. Raises `MemoryError`.
        """
        count = self._flush(self._x, self._backs, _EVENTS_MAX)
        if count < 0:
            raise MemoryError
        return list(self._given_back(count, self._call["out"](self._x))) if count else []

    def _given_back(self, count: int, start: int) -> Iterator[Back]:
        values = self._back_values
        for n in range(count):
            at = n * _BACK_FIELDS
            client, place, size, is_drained = values[at : at + _BACK_FIELDS]
            yield Back(client, ctypes.string_at(start + place, size), bool(is_drained))


def is_available() -> bool:
    """Whether the lane was built, and this system has what it needs."""
    return hasattr(library(), "riverlog_express_new")
