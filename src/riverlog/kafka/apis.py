"""The one table of what this door serves: API key, versions, handler."""

from collections.abc import Callable, Coroutine
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.later import Later
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import Codec, codec


class Context(NamedTuple):
    """What a handler knows besides its request."""

    broker: Broker
    version: int
    client_id: str | None
    client_host: str
    advertised: Address
    fetch_bytes_max: Callable[[], int] = lambda: 1 << 20


# A reply that is ready is a message or `Encoded`; one that must wait is a `Later` or a coroutine;
# None means that the protocol wants no reply.
Answer = Any | Later | Coroutine[Any, Any, Any] | None
Handler = Callable[[Any, Context], Answer]

# Answers from the frame itself; `SLOW` sends the request the ordinary way.
FrameHandler = Callable[[bytes, int, Context], Answer]
SLOW: Final = object()


class Api:
    """One served API. `overlaps` lets a request start while others of its kind are under way."""

    __slots__ = (
        "_served", "first", "first_advertised", "handle", "handle_frame", "key", "last", "overlaps",
    )  # fmt: skip

    def __init__(
        self,
        key: ApiKey,
        versions: tuple[int, int],
        handle: Handler,
        *,
        handle_frame: FrameHandler | None = None,
        first_advertised: int | None = None,
        overlaps: bool = False,
    ) -> None:
        self.key = key
        self.first, self.last = versions
        self.first_advertised = self.first if first_advertised is None else first_advertised
        self.handle = handle
        self.handle_frame = handle_frame
        self.overlaps = overlaps
        self._served: dict[int, tuple[Codec, Codec, bool]] = {}

    def codecs(self, version: int) -> tuple[Codec, Codec, bool] | None:
        """Request codec, response codec and whether the version is flexible; None if unserved."""
        found = self._served.get(version)
        if found is None and self.first <= version <= self.last:
            request, response = tables(self.key)
            is_flexible = version in request.FLEXIBLE  # type: ignore[attr-defined]  # a table
            found = (codec(request, version), codec(response, version), is_flexible)
            self._served[version] = found
        return found


Apis = dict[int, Api]

# API, first and last version served. A handler is imported when it is first asked for, from the
# file in `handlers/` that has the API's name.
_SERVED = [
    (ApiKey.LIST_OFFSETS, 1, 11),
    (ApiKey.METADATA, 0, 13),
    (ApiKey.CREATE_TOPICS, 2, 7),
    (ApiKey.DELETE_TOPICS, 1, 6),
    (ApiKey.DELETE_RECORDS, 0, 2),
    (ApiKey.INIT_PRODUCER_ID, 0, 5),
    (ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4),
    (ApiKey.DESCRIBE_CONFIGS, 1, 4),
    (ApiKey.ALTER_CONFIGS, 0, 2),
    (ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1),
    (ApiKey.CREATE_PARTITIONS, 0, 3),
    (ApiKey.DESCRIBE_CLUSTER, 0, 2),
    (ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0),
    (ApiKey.DESCRIBE_LOG_DIRS, 1, 4),
    (ApiKey.FIND_COORDINATOR, 0, 6),
    (ApiKey.JOIN_GROUP, 0, 9),
    (ApiKey.SYNC_GROUP, 0, 5),
    (ApiKey.HEARTBEAT, 0, 4),
    (ApiKey.LEAVE_GROUP, 0, 5),
    (ApiKey.OFFSET_COMMIT, 2, 10),
    (ApiKey.OFFSET_FETCH, 1, 10),
    (ApiKey.DESCRIBE_GROUPS, 0, 6),
    (ApiKey.LIST_GROUPS, 0, 5),
    (ApiKey.DELETE_GROUPS, 0, 2),
    (ApiKey.OFFSET_DELETE, 0, 0),
]


def served() -> Apis:
    """Every API this broker really serves, with the versions it advertises.

    Fetch sessions live as long as the table does: whoever makes it has sessions of its own.
    """
    apis: Apis = {}
    for key, first, last in _SERVED:
        apis[key] = Api(key, (first, last), _handler_of(key))
    apis[ApiKey.PRODUCE] = Api(
        ApiKey.PRODUCE,
        (3, 13),
        _handler_of(ApiKey.PRODUCE),
        handle_frame=_first(lambda: _fast_produce().handle),
        first_advertised=0,
        overlaps=True,
    )
    fast_fetch = cache(_fast_fetch)
    apis[ApiKey.FETCH] = Api(
        ApiKey.FETCH,
        (4, 18),
        _first(lambda: _fetch(fast_fetch().learn)),
        handle_frame=_first(lambda: fast_fetch().handle),
    )
    apis[ApiKey.API_VERSIONS] = Api(ApiKey.API_VERSIONS, (0, 4), _first(lambda: _versions(apis)))
    return apis


def _handler_of(key: ApiKey) -> Handler:
    def load() -> Handler:
        handle: Handler = import_module(f"riverlog.kafka.handlers.{key.name.lower()}").handle
        return handle

    return _first(load)


H = TypeVar("H", bound=Callable[..., Answer])


def _first(load: Callable[[], H]) -> H:
    """A handler that is loaded by its first call."""
    loaded: H | None = None

    def handle(*arguments: Any) -> Answer:
        nonlocal loaded
        if loaded is None:
            loaded = load()
        return loaded(*arguments)

    return handle  # type: ignore[return-value]  # it takes what `load`'s result takes


def _fast_produce() -> Any:
    from riverlog.kafka.fast_produce import FastProduce

    return FastProduce()


def _fast_fetch() -> Any:
    from riverlog.kafka.fast_fetch import FastFetch

    return FastFetch()


def _fetch(learn: Any) -> Handler:
    from riverlog.kafka.fetch_sessions import FetchSessions
    from riverlog.kafka.handlers import fetch

    return fetch.handler(FetchSessions(), learn)


def _versions(apis: Apis) -> Handler:
    from riverlog.kafka.handlers import api_versions

    return api_versions.handler(apis)
