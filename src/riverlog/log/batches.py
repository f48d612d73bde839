"""Several batches at once: what came for one partition in one turn, appended in one piece."""

from typing import NamedTuple, Protocol

from riverlog.log.producers import FencedProducer, OutOfOrderSequence, Producers, following
from riverlog.records.batch import BatchHeader, split


class Mark(NamedTuple):
    """A batch among many: where it begins, its base offset, the largest time of those before."""

    position: int
    base_offset: int
    max_timestamp_ms: int


class Batches(Protocol):
    """Batches, each of which a producer may send: sound, without gaps, of no transaction.

    `time_min_ms` and `time_max_ms` are of all records; -1 where none has a time.
    """

    size_bytes: int
    record_count: int
    time_min_ms: int
    time_max_ms: int
    batch_bytes_max: int
    has_producers: bool

    def placed(self, base_offset: int, leader_epoch: int) -> tuple[bytearray, list[Mark]]:
        """All of them at their place in the log, and a mark for one of them every few KiB."""


class Stretch(NamedTuple):
    """Batches that have their place in the log, as the end of a log needs to know of them."""

    base_offset: int
    next_offset: int
    size_bytes: int
    record_count: int
    max_timestamp_ms: int
    batch_bytes_max: int
    marks: list[Mark]


def in_sequence(data: bytearray, producers: Producers) -> list[BatchHeader] | None:
    """The headers of those that have a producer, when each of them is that producer's next batch.

    None when any is not: repeated, too early, or of a producer that was replaced.
    """
    headers = [header for _, header in split(data) if header.has_producer]
    latest: dict[int, BatchHeader] = {}
    for header in headers:
        before = latest.get(header.producer_id)
        if before is None:
            try:
                if producers.find_duplicate(header) is not None:
                    return None
            except (FencedProducer, OutOfOrderSequence):
                return None
        elif (header.producer_epoch, header.base_sequence) != (
            before.producer_epoch,
            following(before.last_sequence),
        ):
            return None
        latest[header.producer_id] = header
    return headers
