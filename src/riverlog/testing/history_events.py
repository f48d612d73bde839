"""What can be seen of a log from outside: sends, answers, reads, and the lights going out."""

from dataclasses import dataclass
from enum import StrEnum


class Acks(StrEnum):
    """What an acknowledgement promised."""

    NONE = "0"
    """Nothing."""
    ONE = "1"
    """To survive a crash of the process. A power cut may take it, and its offset is free again."""
    ALL = "all"
    """To survive everything."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One try to write a record. A retry is sent again with the same id and payload."""

    record_id: str
    partition: str
    payload: bytes
    producer: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    record_id: str
    offset: int
    acks: Acks


@dataclass(frozen=True, slots=True)
class Refused:
    """One try was answered with an error that says for certain: not written."""

    record_id: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it came out of a log."""

    offset: int
    record_id: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Consumed:
    reader: str
    partition: str
    record: Record


@dataclass(frozen=True, slots=True)
class ReadBack:
    """All a partition held at one moment, from its start offset (older ones are retired)."""

    partition: str
    start_offset: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class MayGo:
    """From here on records before an offset may be deleted, at any time."""

    partition: str
    before_offset: int


@dataclass(frozen=True, slots=True)
class BeganAt:
    """Somebody was told that a partition begins at an offset."""

    partition: str
    offset: int


@dataclass(frozen=True, slots=True)
class PowerLost:
    """From here on acknowledgements with `Acks.ONE` are void."""


Event = Sent | Acknowledged | Refused | Consumed | ReadBack | MayGo | BeganAt | PowerLost
