"""What recovery need not find out again: a partition's state at a durable place in its log.

Checkpoints and seals are small JSON files with a checksum line. Pure: bytes in, values out.
"""

import json
from typing import Any, NamedTuple

from riverlog.log.epochs import Epochs
from riverlog.log.producers import Producers, Written

CHECKPOINT_NAME = "checkpoint"
SEAL_SUFFIX = ".seal"


class Seal(NamedTuple):
    """A closed segment: where it ends, and the hash over all of its bytes.

    The log goes on at `resume_offset`. It is `next_offset`, unless a sync failed here: then the
    offsets between them were given to records that the disk did not keep, and stay unused.
    """

    size_bytes: int
    next_offset: int
    resume_offset: int
    hash_so_far: int
    max_timestamp_ms: int
    record_count: int

    def to_bytes(self) -> bytes:
        return _dump(
            {
                "size_bytes": self.size_bytes,
                "next_offset": self.next_offset,
                "resume_offset": self.resume_offset,
                "hash": self.hash_so_far,
                "max_timestamp_ms": self.max_timestamp_ms,
                "record_count": self.record_count,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "Seal":
        """Raises `ValueError` when these bytes are no seal."""
        read = _load(data)
        return cls(
            read["size_bytes"],
            read["next_offset"],
            read["resume_offset"],
            read["hash"],
            read["max_timestamp_ms"],
            read["record_count"],
        )


class Checkpoint(NamedTuple):
    """The state after all batches before `position` in segment `base_offset`.

    Everything before it was durable when it was written: damage there is never a torn write.
    """

    base_offset: int
    position: int
    next_offset: int
    log_start_offset: int
    hash_so_far: int
    max_timestamp_ms: int
    record_count: int
    epochs: tuple[tuple[int, int], ...]
    producers: tuple[tuple[int, int, tuple[Written, ...]], ...]

    def to_bytes(self) -> bytes:
        return _dump(
            {
                "segment": self.base_offset,
                "position": self.position,
                "next_offset": self.next_offset,
                "log_start_offset": self.log_start_offset,
                "hash": self.hash_so_far,
                "max_timestamp_ms": self.max_timestamp_ms,
                "record_count": self.record_count,
                "epochs": self.epochs,
                "producers": self.producers,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "Checkpoint":
        """Raises `ValueError` when these bytes are no checkpoint."""
        read = _load(data)
        return cls(
            read["segment"],
            read["position"],
            read["next_offset"],
            read["log_start_offset"],
            read["hash"],
            read["max_timestamp_ms"],
            read["record_count"],
            tuple((epoch, start) for epoch, start in read["epochs"]),
            tuple(
                (producer_id, epoch, tuple(Written(*written) for written in batches))
                for producer_id, epoch, batches in read["producers"]
            ),
        )

    @property
    def place(self) -> tuple[int, int]:
        """Segment and position; places are in the order of the log."""
        return self.base_offset, self.position

    def restore(self) -> tuple[Epochs, Producers]:
        producers = Producers()
        for producer_id, epoch, batches in self.producers:
            producers.restore(producer_id, epoch, list(batches))
        return Epochs(self.epochs), producers


def freeze(producers: Producers) -> tuple[tuple[int, int, tuple[Written, ...]], ...]:
    """The producers as a checkpoint keeps them, unaffected by what they write next."""
    return tuple(
        (producer_id, producer.epoch, tuple(producer.batches))
        for producer_id, producer in producers
        if producer.batches
    )


def _dump(value: dict[str, object]) -> bytes:
    return json.dumps(value, separators=(", ", ": ")).encode()


def _load(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError("no JSON") from error
