"""Where to begin and to end, as the options of Spark's own Kafka source say it."""

from collections.abc import Mapping
from typing import NamedTuple

from riverlog.spark.errors import InvalidOption
from riverlog.spark.offsets import Offsets, pairs, parse_offsets

EARLIEST, LATEST = -2, -1


class AllAt(NamedTuple):
    """Every partition at its `EARLIEST` or `LATEST`."""

    place: int


class EachAt(NamedTuple):
    """Each partition at an offset of its own, or at its `EARLIEST` or `LATEST`."""

    offsets: Offsets


class AllAtTime(NamedTuple):
    """Every partition at its first record of a time or later."""

    time_ms: int


class EachAtTime(NamedTuple):
    """Each partition at its first record of a time of its own or later."""

    times_ms: Offsets


Place = AllAt | EachAt | AllAtTime | EachAtTime


def starting_place(options: Mapping[str, str], *, is_streaming: bool) -> Place:
    """Where to begin; `options` by the names of the documentation. Raises `InvalidOption`."""
    place = _place(options, "starting", AllAt(LATEST if is_streaming else EARLIEST))
    if not is_streaming and _mentions(place, LATEST):
        raise InvalidOption(
            "startingOffsets cannot be the latest in a batch query: there would be nothing to read"
        )
    return place


def ending_place(options: Mapping[str, str]) -> Place:
    """Where to end, which is the first offset that is left out. Raises `InvalidOption`."""
    place = _place(options, "ending", AllAt(LATEST))
    if _mentions(place, EARLIEST):
        raise InvalidOption("endingOffsets cannot be the earliest: there would be nothing to read")
    return place


def check_covers(place: Place, partitions: Mapping[str, Mapping[int, object]], option: str) -> None:
    """Raises `InvalidOption` unless a place that names partitions names exactly these."""
    if isinstance(place, EachAtTime):
        option = f"{option}ByTimestamp"
    match place:
        case EachAt(named) | EachAtTime(named):
            unknown = sorted(pairs(named) - pairs(partitions))
            missing = sorted(pairs(partitions) - pairs(named))
            if unknown:
                topic, partition = unknown[0]
                raise InvalidOption(f"{option} names {topic}/{partition}, which is not read")
            if missing:
                topic, partition = missing[0]
                raise InvalidOption(
                    f"{option} names every partition or none, and lacks {topic}/{partition}"
                )


def _place(options: Mapping[str, str], side: str, default: AllAt) -> Place:
    time = options.get(f"{side}Timestamp")
    if time is not None:
        if not time.isdecimal():
            raise InvalidOption(f"{side}Timestamp is milliseconds since 1970, not '{time}'")
        return AllAtTime(int(time))
    times = options.get(f"{side}OffsetsByTimestamp")
    if times is not None:
        return EachAtTime(parse_offsets(f"{side}OffsetsByTimestamp", times))
    text = options.get(f"{side}Offsets")
    if text is None:
        return default
    match text.strip().lower():
        case "earliest":
            return AllAt(EARLIEST)
        case "latest":
            return AllAt(LATEST)
    offsets = parse_offsets(f"{side}Offsets", text)
    for topic, numbers in offsets.items():
        for partition, offset in numbers.items():
            if offset < EARLIEST:
                raise InvalidOption(f"{side}Offsets has {offset} for {topic}/{partition}")
    return EachAt(offsets)


def _mentions(place: Place, special: int) -> bool:
    match place:
        case AllAt(found):
            return found == special
        case EachAt(offsets):
            return any(special in numbers.values() for numbers in offsets.values())
    return False
