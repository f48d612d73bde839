"""Sends changed frames to a broker over many connections, and waits for what becomes of each."""

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.frames import PREFIX_BYTES, FrameSplitter
from riverlog.protocol.headers import read_response, read_start, request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.join_group import JoinGroupResponse
from riverlog.protocol.wire import WireError
from tests.fuzz.frame_source import FrameSource, Sending

LANES = 24
PIPELINED = 8
# A request may be meant to wait: it is given up after this, and the connection with it.
PATIENCE_S = 0.25
# The broker may be busy with the others, but not for long.
PROBE_EVERY_S = 0.05
SILENT_S_MAX = 60
CONNECT_S_MAX = 60
REPLY_BYTES_MAX = 1 << 30
# Frames that may have done what is found out later.
REMEMBERED = 6_000

MARK = 0x5EA1_0000
_CORRELATION_AT, _CORRELATION_END = 4, 8
# Harmless, and answered at once.
_API_VERSIONS = b"".join(request_frame(ApiVersionsRequest(), 0, 0, "fuzz"))[PREFIX_BYTES:]


class Dead(AssertionError):
    """The broker takes no connection any more."""


class TcpFuzzer:
    """What was done so far; `recent` has the last frames, in the order of sending."""

    def __init__(
        self, host: str, port: int, source: FrameSource, cpu_s: Callable[[], float]
    ) -> None:
        """`cpu_s` is the time that the broker has computed."""
        self.frame_count = 0
        self.answered_count = 0
        self.closed_count = 0
        self.stuck_count = 0
        # The longest wait for the simplest answer, and the most that was computed meanwhile.
        self.silent_s_max = 0.0
        self.busy_s_max = 0.0
        self._cpu_s = cpu_s
        self.recent: deque[bytes] = deque(maxlen=REMEMBERED)
        self._address = host, port
        self._source = source
        self._left = 0
        self._is_done = False

    async def run(self, frame_count: int, is_well: Callable[[], bool] = lambda: True) -> None:
        """Each frame has been answered, or its connection closed, or given up, when it returns.

        Returns early when `is_well` says no; raises `Dead`.
        """
        self._left = frame_count
        self._is_well = is_well
        self._is_done = False
        probe = asyncio.ensure_future(self._probe())
        try:
            await asyncio.gather(*(self._lane() for _ in range(LANES)))
        finally:
            self._is_done = True
            await probe

    async def _lane(self) -> None:
        lane = _Lane(self._address, opener=self._source.opener)
        try:
            while self._left > 0 and self._is_well():
                sendings = [self._source.next() for _ in range(min(PIPELINED, self._left))]
                self._left -= len(sendings)
                self.recent.extend(sending.frame for sending in sendings)
                while sendings:
                    done = await lane.send(sendings)
                    self._count(lane, done)
                    for reply in lane.joins:
                        self._source.vocabulary.learn(reply)
                    sendings = sendings[done:]
        finally:
            lane.close()

    def _count(self, lane: "_Lane", done: int) -> None:
        self.frame_count += done
        self.answered_count += lane.answered_count
        self.stuck_count += lane.was_stuck
        self.closed_count += lane.is_closed and not lane.was_stuck

    async def _probe(self) -> None:
        """Asks the simplest thing there is, again and again."""
        while not self._is_done:
            lane = _Lane(self._address, SILENT_S_MAX)
            started_s, computed_s = monotonic(), self._cpu_s()
            await lane.send([])
            self.silent_s_max = max(self.silent_s_max, monotonic() - started_s)
            self.busy_s_max = max(self.busy_s_max, self._cpu_s() - computed_s)
            lane.close()
            await asyncio.sleep(PROBE_EVERY_S)


async def send_alone(host: str, port: int, frame: bytes) -> None:
    """One frame on a connection of its own, for those that broke something once."""
    lane = _Lane((host, port))
    await lane.send([Sending(frame)])
    lane.close()


class _Lane:
    """A connection at a time, made anew when the broker closes it."""

    def __init__(
        self, address: tuple[str, int], patience_s: float = PATIENCE_S, opener: bytes = b""
    ) -> None:
        """A connection begins with the `opener`, if there is one, which then is the mark, too."""
        self._address = address
        self._opener = opener
        self._patience_s = patience_s
        self._connection: _Connection | None = None
        self.was_stuck = False
        self.answered_count = 0
        self.joins: list[str] = []

    @property
    def is_closed(self) -> bool:
        return self._connection is None or self._connection.is_closed

    async def send(self, sendings: list[Sending]) -> int:
        """Sends these and a mark behind them; gives how many need not be sent again."""
        connection = self._connection
        if connection is None or connection.is_closed:
            connection = self._connection = await self._connected()
            if self._opener:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._patience_s):
                        await connection.begin([]).wait()
        told = connection.begin(sendings)
        try:
            async with asyncio.timeout(self._patience_s):
                await told.wait()
            self.was_stuck = False
        except TimeoutError:
            self.was_stuck = True
            self.close()
        self.answered_count = len(connection.seen)
        self.joins = connection.joins
        if connection.is_marked:
            return len(sendings)
        # The first that has no answer ended the connection, or waits; those behind were not read.
        unanswered = (number for number in range(len(sendings)) if number not in connection.seen)
        return min(len(sendings), next(unanswered, len(sendings)) + 1)

    async def _connected(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_S_MAX):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._opener), *self._address
                )
        except OSError as error:
            raise Dead(f"the broker takes no connection: {error}") from error
        return connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.transport.abort()
            self._connection = None


class _Connection(asyncio.Protocol):
    """One connection, and what came back for the frames sent last."""

    def __init__(self, opener: bytes) -> None:
        self.is_closed = False
        self._mark = opener or _API_VERSIONS
        self._splitter = FrameSplitter(REPLY_BYTES_MAX)
        self._told = asyncio.Event()

    def begin(self, sendings: list[Sending]) -> asyncio.Event:
        """Sends frames; the event comes when the mark behind them is answered, or nothing will."""
        self._sendings = sendings
        self._told = asyncio.Event()
        self.seen: set[int] = set()
        self.is_marked = False
        self.joins: list[str] = []
        pieces = [*sendings, Sending(self._mark)]
        self.transport.write(b"".join(map(_numbered, pieces, count())))
        return self._told

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        for reply in self._splitter.feed(data):
            (correlation_id,) = struct.unpack_from(">i", reply)
            number = correlation_id - MARK
            if number == len(self._sendings):
                self.is_marked = True
                self._told.set()
            elif 0 <= number < len(self._sendings):
                self.seen.add(number)
                self._learn(self._sendings[number].frame, reply)

    def _learn(self, frame: bytes, reply: bytes) -> None:
        key, version, _ = read_start(frame)
        if key == ApiKey.JOIN_GROUP:
            with suppress(WireError):
                request = tables(ApiKey.JOIN_GROUP)[0]
                _, joined = read_response(request, version, reply, JoinGroupResponse)
                self.joins.append(joined.member_id)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closed = True
        self._told.set()


def _numbered(sending: Sending, number: int) -> bytes:
    """A frame with the number that its reply is told by."""
    frame = sending.frame
    if len(frame) >= _CORRELATION_END:
        own = struct.pack(">i", MARK + number)
        frame = frame[:_CORRELATION_AT] + own + frame[_CORRELATION_END:]
    return sending._replace(frame=frame).prefixed
