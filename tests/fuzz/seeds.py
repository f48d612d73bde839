"""What mutation starts from: a request of every API in every version that is served."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from riverlog.kafka.apis import served
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import Codec, codec
from riverlog.protocol.headers import read_client_id, request_frame
from riverlog.protocol.messages.fetch import FetchRequest
from riverlog.protocol.messages.join_group import JoinGroupRequest
from tests.fuzz.corpus import Corpus, Frame

APIS = served()
# Clients like to wait longer than a fuzzer has time.
FETCH_WAIT_MS = 5
REBALANCE_MS = 30


class Seed(NamedTuple):
    """A request that decodes: its bytes, where its message begins, and how to read that."""

    api: ApiKey
    version: int
    frame: bytes
    position: int
    codec: Codec

    def message(self) -> Any:  # messages share no type
        """A fresh copy of the message, to be changed."""
        return self.codec.decode(self.frame, self.position)

    def with_message(self, message: Any) -> bytes:
        """The frame with another message; raises what encoding raises."""
        return b"".join((self.frame[: self.position], *self.codec.encode(message)))


def seeds(corpus: Corpus, topic_ids: Mapping[str, bytes] | None = None) -> list[Seed]:
    """The recorded requests that are served here, and what fills the versions nobody spoke.

    With `topic_ids`, recorded topics have these ids; those that wait do so shortly.
    """
    found = []
    for recorded in corpus.frames:
        data = recorded.data
        for name, topic_id in (topic_ids or {}).items():
            data = data.replace(corpus.topic_ids[name], topic_id)
        if seed := _seed(data):
            found.append(_impatient(seed))
    spoken = {(seed.api, seed.version) for seed in found}
    for api in APIS.values():
        recorded_of_it = [seed for seed in found if seed.api == api.key]
        for version in range(api.first, api.last + 1):
            if (api.key, version) not in spoken:
                found += list(_translated(recorded_of_it, version))[:2]
    return found


def _seed(frame: bytes) -> Seed | None:
    """None for a version that is not served: clients ask for some before they know."""
    made = Frame("", frame)
    api = APIS[made.api]
    if not api.first <= made.version <= api.last:
        return None
    request = tables(made.api)[0]
    _, position = read_client_id(frame, made.version in request.FLEXIBLE)  # type: ignore[attr-defined]  # a table
    return Seed(made.api, made.version, frame, position, codec(request, made.version))


def _impatient(seed: Seed) -> Seed:
    message = seed.message()
    if isinstance(message, FetchRequest):
        message.max_wait_ms = FETCH_WAIT_MS
    elif isinstance(message, JoinGroupRequest):
        message.rebalance_timeout_ms = REBALANCE_MS
    else:
        return seed
    return seed._replace(frame=seed.with_message(message))


def _translated(recorded: list[Seed], version: int) -> Iterator[Seed]:
    """The requests of other versions in this one, nearest first, where it can say them."""
    for seed in sorted(recorded, key=lambda seed: abs(seed.version - version)):
        try:
            parts = request_frame(seed.message(), version, 1, "translated")
        except (struct.error, TypeError, AttributeError):
            continue  # It may be null there, and not here.
        if made := _seed(b"".join(parts)[4:]):
            yield made
