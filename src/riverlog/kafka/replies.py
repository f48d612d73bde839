"""What a connection remembers of a request: its place in the order, and who sent it."""

import asyncio
from typing import Any

from riverlog.kafka.apis import Context
from riverlog.protocol.codec import Codec
from riverlog.protocol.wire import Buffer


class Reply:
    """The place of one request in the order of replies."""

    __slots__ = ("codec", "header", "is_done", "is_overlapping", "parts", "request_bytes", "task")

    def __init__(self, request_bytes: int, header: bytes, codec: Codec) -> None:
        self.request_bytes = request_bytes
        self.header = header
        self.codec = codec
        self.is_done = False
        self.is_overlapping = False
        self.parts: list[Buffer] | None = None
        self.task: asyncio.Task[Any] | None = None


class Caller:
    """The rest of a request header, and what it tells handlers."""

    __slots__ = ("context", "header")

    def __init__(self, header: bytes, context: Context) -> None:
        self.header = header
        self.context = context
