"""What clients may take, so that none of them can take all."""

from riverlog.config import DoorLimits
from riverlog.settings.kinds import INT32_MAX, duration, number, size
from riverlog.settings.setting import of

_GROUP = "what clients may take"

CLIENT_LIMITS = (
    of(
        DoorLimits,
        "frame_bytes_max",
        _GROUP,
        "socket.request.max.bytes",
        size(1, INT32_MAX),
        "The largest request; a client that declares more is cut off before anything is kept.",
    ),
    of(
        DoorLimits,
        "other_frame_bytes_max",
        _GROUP,
        "riverlog.other.request.max.bytes",
        size(1, INT32_MAX),
        "The largest request that is no Produce. One of many small parts takes 0.2 s for every "
        "MiB, so it is kept well below the above. 1 MiB names 30,000 partitions.",
    ),
    of(
        DoorLimits,
        "connections_max",
        _GROUP,
        "max.connections",
        number(1, INT32_MAX),
        "Further clients are closed at once. Never more than the files that the system lets "
        "a process open, less those that the log needs.",
    ),
    of(
        DoorLimits,
        "connections_per_ip_max",
        _GROUP,
        # Kafka's name has no prefix; in TOML it would be a table within max.connections.
        "riverlog.max.connections.per.ip",
        number(1, INT32_MAX),
        "The same for the clients of one address. As in Kafka there is no such limit by default: "
        "behind a proxy, or on the broker's own machine, all come from one.",
    ),
    of(
        DoorLimits,
        "requests_in_flight_max",
        _GROUP,
        "riverlog.requests.in.flight.max",
        number(1, INT32_MAX),
        "Requests of one connection that may be unanswered at a time; it is not read from while "
        "it has more.",
    ),
    of(
        DoorLimits,
        "bytes_in_flight_max",
        _GROUP,
        "queued.max.request.bytes",
        size(1),
        "Bytes of all requests being answered; while there are more, no connection is read from.",
    ),
    of(
        DoorLimits,
        "bytes_held_max",
        _GROUP,
        "riverlog.unfinished.request.max.bytes",
        size(1),
        "Bytes of all unfinished requests. A connection that would push beyond is closed: "
        "nothing else could free them.",
    ),
    of(
        DoorLimits,
        "unread_reply_bytes_max",
        _GROUP,
        "riverlog.unread.reply.max.bytes",
        size(1),
        "Replies waiting for one client that does not read; it is not read from either until it "
        "has caught up.",
    ),
    of(
        DoorLimits,
        "unread_replies_bytes_max",
        _GROUP,
        "riverlog.unread.replies.max.bytes",
        size(1),
        "Replies waiting for all clients that have more to read than the above. Beyond it, those "
        "that have let them wait for longest are closed: nothing else could free them.",
    ),
    of(
        DoorLimits,
        "fetch_bytes_max",
        _GROUP,
        "fetch.max.bytes",
        size(1024, INT32_MAX),
        "The largest reply to a Fetch, whatever was asked for, but for a single batch that is "
        "larger. While others write it is 256 KiB, so that they are not held up. Kafka has 55 MiB; "
        "more than this is not faster.",
    ),
    of(
        DoorLimits,
        "idle_ms_max",
        _GROUP,
        "connections.max.idle.ms",
        duration(1),
        "A connection without any request for so long is closed.",
    ),
    of(
        DoorLimits,
        "shutdown_ms_max",
        _GROUP,
        "riverlog.shutdown.max.ms",
        duration(),
        "How long requests under way may take to finish when the broker stops.",
    ),
)
