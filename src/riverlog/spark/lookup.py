"""Options made offsets: which partitions there are now, and where in them to begin and to end."""

import re

from riverlog.client.errors import UnknownTopic
from riverlog.client.metadata import TopicView
from riverlog.spark.errors import InvalidOption
from riverlog.spark.offsets import Offsets
from riverlog.spark.options import Chosen
from riverlog.spark.places import (
    EARLIEST,
    LATEST,
    AllAt,
    AllAtTime,
    EachAt,
    EachAtTime,
    Place,
    check_covers,
)
from riverlog.tables.brokers import Brokers

# The first offset at or after a time is this where there is none.
_NONE = -1


def latest(brokers: Brokers, chosen: Chosen) -> Offsets:
    """The end of every partition there is to read; raises `UnknownTopic` for a missing topic."""
    return _listed(brokers, _partitions(brokers, chosen), LATEST)


def still_there(brokers: Brokers, chosen: Chosen) -> Offsets:
    """The same, and without an error for topics and partitions that have gone."""
    names = list(chosen.topics or chosen.partitions or ())
    views = (
        _matching(brokers, chosen.pattern)
        if chosen.pattern is not None
        else [view for view in brokers.topics() if view.name in names]
    )
    found = {view.name: [each.partition for each in view.partitions] for view in views}
    if chosen.partitions is not None:
        found = {
            name: [number for number in chosen.partitions[name] if number in numbers]
            for name, numbers in found.items()
        }
    return _listed(brokers, found, LATEST)


def begins(brokers: Brokers, ends: Offsets) -> Offsets:
    """Where the log of each of these partitions begins now."""
    return _listed(brokers, {topic: list(numbers) for topic, numbers in ends.items()}, EARLIEST)


def starts(
    brokers: Brokers, place: Place, ends: Offsets, *, beyond_is_latest: bool = False
) -> Offsets:
    """The offsets that `place` means, in the partitions of `ends`.

    A time that no record has reached yet is an `InvalidOption`, or else the latest.
    """
    check_covers(place, ends, "startingOffsets")
    found = _resolved(brokers, place, ends)
    for topic, numbers in found.items():
        for partition, offset in numbers.items():
            if offset == _NONE:
                if not beyond_is_latest:
                    raise InvalidOption(
                        f"{topic}/{partition} has no record of the starting time or later;"
                        " startingOffsetsByTimestampStrategy=latest would begin at its end"
                    )
                numbers[partition] = ends[topic][partition]
    return found


def stops(brokers: Brokers, place: Place, ends: Offsets) -> Offsets:
    """The same for where to end; a time that no record has reached yet is the latest."""
    check_covers(place, ends, "endingOffsets")
    found = _resolved(brokers, place, ends)
    for topic, numbers in found.items():
        for partition, offset in numbers.items():
            if offset == _NONE:
                numbers[partition] = ends[topic][partition]
    return found


def _partitions(brokers: Brokers, chosen: Chosen) -> dict[str, list[int]]:
    if chosen.pattern is not None:
        views = _matching(brokers, chosen.pattern)
    else:
        views = [brokers.topic(name) for name in chosen.topics or chosen.partitions or ()]
    found = {view.name: [each.partition for each in view.partitions] for view in views}
    for topic, numbers in (chosen.partitions or {}).items():
        if unknown := set(numbers) - set(found[topic]):
            last = len(found[topic]) - 1
            raise UnknownTopic(f"{topic} has partitions 0 to {last}, not {min(unknown)}")
        found[topic] = numbers
    return found


def _matching(brokers: Brokers, pattern: str) -> list[TopicView]:
    return [
        view
        for view in brokers.topics()
        if not view.is_internal and re.fullmatch(pattern, view.name)
    ]


def _resolved(brokers: Brokers, place: Place, ends: Offsets) -> Offsets:
    match place:
        case AllAt(where):
            times = {topic: dict.fromkeys(numbers, where) for topic, numbers in ends.items()}
        case AllAtTime(time_ms):
            times = {topic: dict.fromkeys(numbers, time_ms) for topic, numbers in ends.items()}
        case EachAtTime(times_ms):
            times = times_ms
        case EachAt(offsets):
            return _each_at(brokers, offsets, ends)
    if place == AllAt(LATEST):
        return {topic: dict(numbers) for topic, numbers in ends.items()}
    return {topic: brokers.list_offsets(topic, asked) for topic, asked in times.items()}


def _each_at(brokers: Brokers, offsets: Offsets, ends: Offsets) -> Offsets:
    found: Offsets = {}
    for topic, numbers in offsets.items():
        asked = {partition: EARLIEST for partition, at in numbers.items() if at == EARLIEST}
        first = brokers.list_offsets(topic, asked) if asked else {}
        found[topic] = {
            partition: ends[topic][partition] if at == LATEST else first.get(partition, at)
            for partition, at in numbers.items()
        }
    return found


def _listed(brokers: Brokers, partitions: dict[str, list[int]], place: int) -> Offsets:
    return {
        topic: brokers.list_offsets(topic, dict.fromkeys(numbers, place))
        for topic, numbers in partitions.items()
        if numbers
    }
