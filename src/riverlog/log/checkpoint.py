"""What recovery need not find out again: a partition's state at a durable place in its log.

Checkpoints and seals are small JSON files with a checksum line. Pure: bytes in, values out.
"""

import json
from typing import Any, NamedTuple

from riverlog.log.epochs import Epochs
from riverlog.log.producers import UNKNOWN_MS, Producers, Remembered, Written

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
    last_append_ms: int = UNKNOWN_MS

    def to_bytes(self) -> bytes:
        return _dump(
            {
                "size_bytes": self.size_bytes,
                "next_offset": self.next_offset,
                "resume_offset": self.resume_offset,
                "hash": self.hash_so_far,
                "max_timestamp_ms": self.max_timestamp_ms,
                "record_count": self.record_count,
                "last_append_ms": self.last_append_ms,
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
            read.get("last_append_ms", UNKNOWN_MS),
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
    producers: tuple[Remembered, ...]
    last_append_ms: int = UNKNOWN_MS

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
                "last_append_ms": self.last_append_ms,
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
                # Those of earlier versions end before the time.
                Remembered(producer_id, epoch, tuple(Written(*one) for one in batches), *rest)
                for producer_id, epoch, batches, *rest in read["producers"]
            ),
            read.get("last_append_ms", UNKNOWN_MS),
        )

    @property
    def place(self) -> tuple[int, int]:
        """Segment and position; places are in the order of the log."""
        return self.base_offset, self.position

    def restore(self) -> tuple[Epochs, Producers]:
        producers = Producers()
        for remembered in self.producers:
            producers.restore(remembered)
        return Epochs(self.epochs), producers


def freeze(producers: Producers) -> tuple[Remembered, ...]:
    """The producers as a checkpoint keeps them, unaffected by what they write next."""
    return tuple(
        Remembered(producer_id, producer.epoch, tuple(producer.batches), producer.last_append_ms)
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
