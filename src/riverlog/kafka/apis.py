"""The one table of what this door serves: API key, versions, handler."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.later import Later
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import Codec, codec


@dataclass(slots=True)
class Context:
    """What a handler knows besides its request."""

    broker: Broker
    version: int
    client_id: str | None
    client_host: str
    advertised: Address


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


def served() -> Apis:
    """Every API this broker really serves, with the versions it advertises.

    Fetch sessions live as long as the table does: whoever makes it has sessions of its own.
    """
    from riverlog.kafka.fast_produce import FastProduce
    from riverlog.kafka.fetch_sessions import FetchSessions
    from riverlog.kafka.handlers import (
        api_versions,
        create_topics,
        delete_topics,
        fetch,
        init_producer_id,
        list_offsets,
        metadata,
        offset_for_leader_epoch,
        produce,
    )

    apis: Apis = {}

    def serve(key: ApiKey, first: int, last: int, handle: Handler) -> None:
        apis[key] = Api(key, (first, last), handle)

    apis[ApiKey.PRODUCE] = Api(
        ApiKey.PRODUCE,
        (3, 12),
        produce.handle,
        handle_frame=FastProduce().handle,
        first_advertised=0,
        overlaps=True,
    )
    serve(ApiKey.FETCH, 4, 17, fetch.handler(FetchSessions()))
    serve(ApiKey.LIST_OFFSETS, 1, 10, list_offsets.handle)
    serve(ApiKey.METADATA, 0, 13, metadata.handle)
    serve(ApiKey.API_VERSIONS, 0, 4, api_versions.handler(apis))
    serve(ApiKey.CREATE_TOPICS, 2, 7, create_topics.handle)
    serve(ApiKey.DELETE_TOPICS, 1, 6, delete_topics.handle)
    serve(ApiKey.INIT_PRODUCER_ID, 0, 5, init_producer_id.handle)
    serve(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4, offset_for_leader_epoch.handle)
    return apis
