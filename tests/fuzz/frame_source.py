"""Frames to send: recorded ones, changed byte by byte, or field by field."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple, TypeVar

from riverlog.protocol.frames import PREFIX_BYTES
from tests.fuzz.messages import MessageMutator, Vocabulary
from tests.fuzz.mutation import EDGES, Mutator
from tests.fuzz.seeds import Seed

# How many are sent as they were, changed field by field, or with a length that is a lie; the rest
# is changed byte by byte.
UNCHANGED, BY_FIELD, LIED = 0.08, 0.6, 0.01
OPENED_UNCHANGED = 0.4
# The API and its version stay, mostly: another one ends the connection at once.
START_BYTES = 8
FRAME_BYTES_MAX = 300_000

T = TypeVar("T")


class Sending(NamedTuple):
    """A frame without its length, and the length it is sent with, if that is a lie."""

    frame: bytes
    lie: int | None = None

    @property
    def prefixed(self) -> bytes:
        length = len(self.frame) if self.lie is None else self.lie
        return (length & 0xFFFF_FFFF).to_bytes(PREFIX_BYTES, "big") + self.frame


class FrameSource:
    """Never ends; the same seed and the same words give the same frames."""

    def __init__(
        self,
        seed: str,
        seeds: Sequence[Seed],
        vocabulary: Vocabulary,
        *,
        opener: Seed | None = None,
    ) -> None:
        """With an `opener` all frames come from that one, which connections are to begin with."""
        self.vocabulary = vocabulary
        self.opener = b"" if opener is None else opener.frame
        self._unchanged = UNCHANGED if opener is None else OPENED_UNCHANGED
        self._chance = Random(seed)
        # Each API as often as any other, however many clients were heard to use it.
        by_api: dict[int, list[Seed]] = {}
        for each in seeds if opener is None else [opener]:
            by_api.setdefault(each.api, []).append(each)
        self._by_api = list(by_api.values())
        self._bytes = Mutator(self._chance, [each.frame for each in seeds])
        self._messages = MessageMutator(self._chance, vocabulary)

    def next(self) -> Sending:
        chance = self._chance
        seed = self._one_of(self._one_of(self._by_api))
        if chance.random() < self._unchanged:
            return Sending(seed.frame)
        kind = chance.random()
        if kind < BY_FIELD:
            return Sending(self._messages.mutated(seed))
        start = 0 if chance.random() < 0.05 else START_BYTES
        frame = self._bytes.mutated(seed.frame, start)[:FRAME_BYTES_MAX]
        if kind > 1 - LIED:
            near = len(frame) + int(chance.random() * 9) - 4
            return Sending(frame, near if chance.random() < 0.5 else self._one_of(EDGES))
        return Sending(frame or b"\0")

    def _one_of(self, values: Sequence[T]) -> T:
        return values[int(self._chance.random() * len(values))]
