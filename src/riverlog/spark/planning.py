"""What a batch of Spark reads: how far it goes, and into which tasks it is cut."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from riverlog.spark.offsets import Offsets


class Slice(NamedTuple):
    """What one task reads: offsets from `start` on and before `end`, of one partition."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        """How many offsets these are."""
        return max(0, self.end - self.start)


class Found(NamedTuple):
    """What is left of what was to be read, and a sentence for each loss."""

    slices: list[Slice]
    losses: list[str]


def slices_between(start: Offsets, end: Offsets) -> list[Slice]:
    """What lies between two places; a partition that `start` does not know begins at 0."""
    return [
        Slice(topic, partition, start.get(topic, {}).get(partition, 0), end[topic][partition])
        for topic in sorted(end)
        for partition in sorted(end[topic])
    ]


def kept(slices: Iterable[Slice], earliest: Offsets, latest: Offsets) -> Found:
    """The part of the slices that the log still has; empty ones are left out."""
    found: list[Slice] = []
    losses: list[str] = []
    for piece in slices:
        where = f"{piece.topic}/{piece.partition}"
        first = earliest.get(piece.topic, {}).get(piece.partition)
        if first is None:
            losses.append(f"{where} does not exist any more")
            continue
        last = latest[piece.topic][piece.partition]
        if piece.start > piece.end:
            losses.append(f"{where} went back from offset {piece.start} to {piece.end}")
        elif piece.size and piece.start < first:
            losses.append(f"{where} begins at offset {first}, and {piece.start} was to be read")
        elif piece.end > last:
            losses.append(f"{where} ends at offset {last}, and {piece.end} was to be reached")
        left = piece._replace(start=max(piece.start, first), end=min(piece.end, last))
        if left.size:
            found.append(left)
    return Found(found, losses)


def gone(start: Offsets, available: Offsets) -> list[str]:
    """A sentence for each partition that was read and is gone, or now ends before that."""
    losses: list[str] = []
    for topic, numbers in start.items():
        for partition, offset in numbers.items():
            last = available.get(topic, {}).get(partition)
            if last is None:
                losses.append(f"{topic}/{partition} does not exist any more")
            elif last < offset:
                losses.append(f"{topic}/{partition} went back from offset {offset} to {last}")
    return losses


def backlog(start: Offsets, available: Offsets) -> int:
    """How many offsets there are to read."""
    return sum(piece.size for piece in slices_between(start, available))


def limited(start: Offsets, available: Offsets, rows_max: int) -> Offsets:
    """Where about `rows_max` offsets end, each partition with its share of the backlog.

    Every partition with something to read gets at least one, so that none waits for ever.
    """
    total = backlog(start, available)
    if total <= rows_max:
        return available
    end: Offsets = {}
    for piece in slices_between(start, available):
        share = max(1, rows_max * piece.size // total) if piece.size else 0
        # A log that went back stays where it is now, not where it was.
        reached = min(piece.start + share, piece.end)
        end.setdefault(piece.topic, {})[piece.partition] = reached
    return end


def cut(slices: Sequence[Slice], parts_min: int | None, records_max: int | None) -> list[Slice]:
    """The slices for tasks: at least `parts_min` if they can be cut so, none over `records_max`.

    Larger slices are cut more often, into parts of about the same size.
    """
    counts = [1] * len(slices)
    if records_max is not None:
        counts = [-(-piece.size // records_max) for piece in slices]
    if parts_min is not None and sum(counts) < parts_min:
        total = sum(piece.size for piece in slices)
        counts = [
            min(piece.size, max(count, -(-parts_min * piece.size // total)))
            for piece, count in zip(slices, counts, strict=True)
        ]
    return [
        part for piece, count in zip(slices, counts, strict=True) for part in _parts(piece, count)
    ]


def _parts(piece: Slice, count: int) -> list[Slice]:
    borders = [piece.start + piece.size * number // count for number in range(count + 1)]
    return [piece._replace(start=start, end=end) for start, end in pairwise(borders)]
