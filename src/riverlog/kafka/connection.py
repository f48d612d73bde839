"""One client's connection: frames in, replies out, in the order of the requests.

Requests are answered inside `data_received` wherever they can be: no task, no queue, one write
for all replies that are ready. Requests of an API that overlaps (Produce) start while earlier ones
of it still wait for the disk; every other request waits for those before it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from riverlog.broker.broker import Broker
from riverlog.config import Address, DoorLimits
from riverlog.kafka.apart import answer_apart
from riverlog.kafka.apis import SLOW, Answer, Apis
from riverlog.kafka.budget import Budget
from riverlog.kafka.flushing import Flushing
from riverlog.kafka.later import HangUp, Later, Parked
from riverlog.kafka.replies import Callers, Replies, Reply
from riverlog.kafka.ride import Ride
from riverlog.kafka.sending import Sending
from riverlog.kafka.turns import Pace
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.frames import FrameSplitter
from riverlog.protocol.headers import START_BYTES, read_start, response_header
from riverlog.protocol.wire import WireError
from riverlog.runtime.logs import get

if TYPE_CHECKING:
    from riverlog.kafka.express import Express

log = get(__name__)

# Ready replies are written at least this often while many requests are answered in a row, so
# that a client which asks much and reads nothing is noticed in time.
FLUSH_BYTES = 64 * 1024


class Connection(asyncio.Protocol):
    """A protocol of one listener; made by it for every client that connects."""

    def __init__(
        self,
        broker: Broker,
        apis: Apis,
        advertised: Address,
        limits: DoorLimits,
        budget: Budget,
        flushing: Flushing,
        open_connections: set["Connection"],
        express: "Callable[[], Express | None]" = lambda: None,
    ) -> None:
        self._broker = broker
        self._apis = apis
        self._limits = limits
        self._budget = budget
        self._flushing = flushing
        self._open_connections = open_connections
        self._ride = Ride(self, express)
        self._ride_reply: Reply | None = None
        self._produced: bytes | None = None
        self._frames = FrameSplitter(limits.frame_bytes_max)
        self._unstarted: deque[bytes] = deque()
        self._replies = Replies()
        self._callers = Callers(broker, advertised, budget.fetch_bytes_max)
        self._is_reading = True
        self._is_writable = True
        self._is_finishing = False
        self._is_lost = False
        self._flush_is_due = False
        self.has_asked = True
        self.idle_since_ms = 0

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A socket's transport is one, though other loops' are not derived from it.
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._loop = asyncio.get_running_loop()
        self._sending = Sending(self._transport, self, self._budget.pieces)
        self._pace = Pace(self._budget.turns, self._loop, self.start_and_flush)
        peer = transport.get_extra_info("peername")
        self._callers.client_host = str(peer[0]) if isinstance(peer, tuple) else ""
        if not self._budget.admit(self._callers.client_host):
            self._budget.log.warning("connection refused", self.host)
            self._is_lost = True
            self._transport.abort()
            return
        self._open_connections.add(self)
        self._transport.set_write_buffer_limits(high=self._limits.unread_reply_bytes_max)

    def data_received(self, data: bytes) -> None:
        held_bytes = self._frames.held_bytes
        try:
            frames = self._frames.feed(data)
        except WireError as error:
            self._cut_off(error)
            return
        self._budget.bytes_held += self._frames.held_bytes - held_bytes
        if self._frames.held_bytes and self._budget.holds_too_much:
            self._budget.log.warning("unfinished request dropped", self.host)
            self._transport.abort()
            return
        if frames:
            self.has_asked = True
            self._budget.take(sum(map(len, frames)))
            self._unstarted.extend(frames)
            self._start_requests()
            self._flush()
            self._broker.commit_soon()

    def pause_writing(self) -> None:
        self._is_writable = False
        for slow in self._budget.unread.note(self, self._sending.unsent_bytes):
            self._budget.log.warning("replies dropped that were not read", slow.host)
            slow.abort()
        self._read_or_not()

    def resume_writing(self) -> None:
        self._is_writable = True
        self._budget.unread.forget(self)
        self.start_and_flush()
        self._read_or_not()

    def connection_lost(self, error: Exception | None) -> None:
        if self not in self._open_connections:
            return
        self._is_lost = True
        self._ride.end()
        self._open_connections.discard(self)
        self._budget.dismiss(self._callers.client_host)
        self._budget.unread.forget(self)
        self._budget.bytes_held -= self._frames.held_bytes
        unanswered = sum(map(len, self._unstarted)) + self._replies.give_up()
        self._unstarted.clear()
        self._budget.release(unanswered)

    # What the listener calls.

    @property
    def descriptor(self) -> int:
        """The number of its socket; -1 when that is closed."""
        number: int = self._transport.get_extra_info("socket").fileno()
        return number

    def finish(self) -> None:
        """Answers what was asked, reads nothing more, and closes."""
        self._is_finishing = True
        self._ride.get_off()
        self._read_or_not()
        self._close_when_finished()

    @property
    def host(self) -> str:
        """Where its client is."""
        return self._callers.client_host

    @property
    def has_unread(self) -> bool:
        """Whether its client has not read all that was sent to it."""
        return self._sending.unsent_bytes > 0

    def abort(self) -> None:
        """Closes at once."""
        self._transport.abort()

    # One request after the other.

    def _start_requests(self) -> None:
        self._pace.begin()
        while self._unstarted and self._is_writable and not self._is_lost:
            frame = self._unstarted[0]
            if not self._pace.may_start(frame):
                break
            ready_bytes = self._replies.ready_bytes
            try:
                if not self._start(frame):
                    break
            except WireError as error:
                self._cut_off(error)
                return
            except Exception as failure:  # noqa: BLE001  # the one place that may, besides tasks
                self._broken(failure)
                return
            self._pace.started(frame, self._replies.ready_bytes - ready_bytes)
            if self._replies.ready_bytes > FLUSH_BYTES:
                self._flush()
        self._read_or_not()

    def _start(self, frame: bytes) -> bool:
        """Starts the first request of those unstarted, or says that it must wait.

        From then on a reply stands for it: whatever happens, its bytes are released once.
        """
        key, version, correlation_id = read_start(frame)
        api = self._apis.get(key)
        last = self._replies.last
        if last is not None and not last.is_done:
            if api is None or not (api.overlaps and last.is_overlapping):
                return False
            if len(self._replies) >= self._limits.requests_in_flight_max:
                return False
        if api is None:
            raise WireError(f"API {key} is not served here")
        if len(frame) > self._limits.other_frame_bytes_max and key != ApiKey.PRODUCE:
            raise WireError(f"a {api.key.name} request of {len(frame)} bytes")
        codecs = api.codecs(version)
        if codecs is None:
            if key != ApiKey.API_VERSIONS:
                raise WireError(f"{api.key.name} version {version} is not served here")
            self._refuse_api_versions(frame, correlation_id)
            return True
        request_codec, response_codec, is_flexible = codecs
        caller = self._callers.of(frame, version, is_flexible)
        position = START_BYTES + len(caller.header)
        header = response_header(key, correlation_id, is_flexible)
        reply = Reply(len(frame), header, response_codec)
        reply.is_overlapping = api.overlaps
        self._unstarted.popleft()
        self._replies.add(reply)
        self._produced = None
        if api.handle_frame is not None:
            answer = api.handle_frame(frame, position, caller.context)
            if answer is not SLOW:
                self._produced = frame if key == ApiKey.PRODUCE else None
                self._await(reply, answer)
                return True
        self._await(reply, api.handle(request_codec.decode(frame, position), caller.context))
        return True

    def _await(self, reply: Reply, answer: Answer) -> None:
        if isinstance(answer, Later):
            if answer.is_done:
                self._replies.complete(reply, answer.answer)
            else:
                answer.tell(partial(self._told, reply))
        elif isinstance(answer, Parked):
            reply.pending = answer
            answer.tell(self._flush_soon)
        elif isinstance(answer, Coroutine):
            # One task per waiting request of this connection, ended with it in connection_lost.
            reply.pending = self._loop.create_task(answer)
            reply.pending.add_done_callback(partial(self._answered, reply))
        else:
            self._replies.complete(reply, answer)

    def _answered(self, reply: Reply, done: asyncio.Task[Any]) -> None:
        reply.pending = None
        if self._is_lost:
            if not done.cancelled():
                done.exception()
            return
        failure = asyncio.CancelledError() if done.cancelled() else done.exception()
        if failure is not None:
            self._broken(failure)
            return
        answer = done.result()
        if isinstance(answer, Parked):
            self._await(reply, answer)
        else:
            self._told(reply, answer)

    def _told(self, reply: Reply, answer: Any) -> None:
        if self._is_lost:
            return
        try:
            self._replies.complete(reply, answer)
        except Exception as failure:  # noqa: BLE001  # whoever tells has others to tell
            self._broken(failure)
            return
        self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flush_is_due:
            self._flush_is_due = True
            self._flushing.add(self)

    # The express lane.

    def _get_on(self, frame: bytes) -> None:
        """Leaves the socket to the lane, if nothing is left to do here."""
        self._produced = None
        if self._unstarted or self._frames.held_bytes or self._is_finishing or self._is_lost:
            return
        if self._is_writable and not self._transport.is_closing():
            _, version, _ = read_start(frame)
            codecs = self._apis[ApiKey.PRODUCE].codecs(version)
            assert codecs is not None
            header = self._callers.of(frame, version, codecs[2]).header
            self._ride.get_on(self._transport, frame, header, version)
            self._read_or_not()

    def go_on(self, rest: bytes, *, is_waiting: bool) -> None:
        """See `Rider`."""
        if is_waiting:
            self._ride_reply = Reply(0, b"", None)
            self._ride_reply.is_overlapping = True
            self._replies.add(self._ride_reply)
        self._read_or_not()
        if rest:
            self.data_received(rest)

    def go_on_replying(self) -> None:
        """See `Rider`."""
        if self._ride_reply is not None:
            self._ride_reply.is_done = True
            self.start_and_flush()

    def answer_apart(self, frame: bytes, told: Callable[[bytes], None]) -> None:
        """See `Rider`."""
        try:
            answer_apart(self._apis, self._callers, frame, told)
        except Exception as failure:  # noqa: BLE001  # as in `_start_requests`
            self._broken(failure)
            told(b"")

    def _refuse_api_versions(self, frame: bytes, correlation_id: int) -> None:
        header = response_header(ApiKey.API_VERSIONS, correlation_id, is_flexible=False)
        codecs = self._apis[ApiKey.API_VERSIONS].codecs(0)
        assert codecs is not None
        reply = Reply(len(frame), header, codecs[1])
        self._unstarted.popleft()
        self._replies.add(reply)
        from riverlog.kafka.handlers import api_versions

        self._replies.complete(
            reply, api_versions.response(self._apis, ErrorCode.UNSUPPORTED_VERSION)
        )

    # Replies.

    def start_and_flush(self) -> None:
        """Sends the replies that are ready, and goes on with what waited for them."""
        self._flush_is_due = False
        if self._is_lost:
            return
        try:
            self._replies.look_again()
        except Exception as failure:  # noqa: BLE001  # as in `_told`
            self._broken(failure)
            return
        self._flush()
        if self._unstarted:
            self._start_requests()
            self._flush()

    def _flush(self) -> None:
        """Writes every reply whose turn has come, in one piece."""
        ready = self._replies.take_ready()
        if ready is None:
            return
        parts, answered_bytes = ready
        if parts and not self._transport.is_closing():
            self._sending.send(parts)
        self._budget.release(answered_bytes)
        if self._is_finishing:
            self._close_when_finished()
        elif self._produced is not None and not self._replies:
            self._get_on(self._produced)

    # Reading, or not.

    def _read_or_not(self) -> None:
        """Reads only from a client that reads, and only what there is room for."""
        if self._is_lost:
            return
        wants_to_read = self._is_writable and not self._unstarted and not self._is_finishing
        wants_to_read = wants_to_read and not self._ride.is_on
        if wants_to_read and self._budget.is_exhausted:
            wants_to_read = False
            self._budget.when_there_is_room(self._read_or_not)
        if wants_to_read and not self._is_reading:
            self._transport.resume_reading()
        elif self._is_reading and not wants_to_read:
            self._transport.pause_reading()
        self._is_reading = wants_to_read

    def _close_when_finished(self) -> None:
        if self._is_finishing and not self._replies and not self._unstarted:
            self._sending.close()

    # Ends.

    def _cut_off(self, error: WireError) -> None:
        """The client speaks something else; what it was promised so far is still sent."""
        self._budget.log.info("connection cut off", self.host, str(error))
        self._flush()
        for frame in self._unstarted:
            self._budget.release(len(frame))
        self._unstarted.clear()
        self._sending.close()

    def _broken(self, failure: BaseException) -> None:
        """A handler failed: our own mistake. The client sees a lost connection and retries."""
        if not isinstance(failure, HangUp):
            log.error("request failed", client=self._callers.client_host, failure=failure)
        self._transport.abort()
