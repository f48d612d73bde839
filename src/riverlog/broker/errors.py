"""What a broker refuses, and why; each is named for what happened."""

from collections.abc import Sequence
from typing import NamedTuple


class UnknownTopic(Exception):
    """There is no such topic, or it has no such partition."""


class UnknownTopicId(Exception):
    """There is no topic with this id; one with its former name may exist."""


class InternalTopic(Exception):
    """The topic is the broker's own: clients may read it, and no more."""


class RecordsTooLarge(Exception):
    """The batch is larger than the topic allows."""


class RecordReason(NamedTuple):
    """Why one record of a batch cannot be taken; the first is at position 0."""

    position: int
    message: str


class RefusedRecords(Exception):
    """Some records of a batch cannot be taken, so none is; `reasons` tells of them one by one."""

    def __init__(self, message: str, reasons: Sequence[RecordReason]) -> None:
        super().__init__(message)
        self.reasons = reasons


class InvalidTimestamp(RefusedRecords):
    """A record's time is too far from ours."""


class KeylessRecords(RefusedRecords):
    """A compacted topic keeps the last record of each key: one without can never be that."""


class InvalidConfig(Exception):
    """A setting of a topic is unknown or out of range."""


class PolicyViolation(Exception):
    """The topic's settings do not allow it."""


class InvalidTransaction(Exception):
    """The batch claims to be part of a transaction that does not exist."""


class FencedEpoch(Exception):
    """The client knows only an earlier leader; it should ask who leads now."""


class UnknownEpoch(Exception):
    """The client has heard of a later leader than this one."""
