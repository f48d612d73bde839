"""Offsets of many partitions, and the JSON in which users and checkpoints have them.

The JSON is that of Spark's own Kafka source, `{"orders": {"0": 17, "1": 42}}`, always in the same
order: Spark compares offsets by their text.

One thing is ours. Spark asks for the initial offset again whenever it runs the first micro-batch
again, and keeps the answer nowhere; "latest" would then skip what came meanwhile. So the end of
the first micro-batch, which Spark does keep, says where it began, under `INITIAL`.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from riverlog.spark.errors import InvalidOption

# topic -> partition -> offset (or a time, where times are asked for)
Offsets = dict[str, dict[int, int]]

# No topic can have this name.
INITIAL = ":initial"


class Mark(NamedTuple):
    """A place in a stream; at the end of its first micro-batch also where that began."""

    offsets: Offsets
    initial: Offsets | None = None


def mark_to_json(mark: Mark) -> dict[str, Any]:
    """The mark as Spark keeps it."""
    found: dict[str, Any] = _ordered(mark.offsets)
    if mark.initial is not None:
        found[INITIAL] = _ordered(mark.initial)
    return found


def mark_from_json(found: Mapping[str, Any]) -> Mark:
    """What `mark_to_json` has made."""
    initial = found.get(INITIAL)
    offsets = {topic: numbers for topic, numbers in found.items() if topic != INITIAL}
    return Mark(_read(offsets), None if initial is None else _read(initial))


def parse_offsets(option: str, text: str) -> Offsets:
    """What a user gave for `option`; raises `InvalidOption`."""
    form = f'{option} is JSON like {{"orders": {{"0": 23, "1": -2}}}}, not \'{text}\''
    try:
        found = json.loads(text)
        offsets = _read(found)
    except (ValueError, AttributeError, TypeError):
        raise InvalidOption(form) from None
    if any(partition < 0 for numbers in offsets.values() for partition in numbers):
        raise InvalidOption(form)
    return offsets


def parse_partitions(option: str, text: str) -> dict[str, list[int]]:
    """Topics and partitions that a user gave for `option`; raises `InvalidOption`."""
    form = f"{option} is JSON like {{\"orders\": [0, 1]}}, not '{text}'"
    try:
        found = json.loads(text)
        chosen = {topic: sorted({_whole(each) for each in found[topic]}) for topic in found}
    except (ValueError, TypeError, KeyError):
        raise InvalidOption(form) from None
    if not chosen or any(min(numbers, default=-1) < 0 for numbers in chosen.values()):
        raise InvalidOption(form)
    return chosen


def pairs(offsets: Mapping[str, Mapping[int, object]]) -> set[tuple[str, int]]:
    """Every topic and partition in it."""
    return {(topic, partition) for topic, numbers in offsets.items() for partition in numbers}


def _read(found: Mapping[str, Mapping[str, object]]) -> Offsets:
    return {
        topic: {int(partition): _whole(offset) for partition, offset in numbers.items()}
        for topic, numbers in found.items()
    }


def _whole(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError("no whole number")
    return number


def _ordered(offsets: Offsets) -> dict[str, Any]:
    return {
        topic: {str(partition): offsets[topic][partition] for partition in sorted(offsets[topic])}
        for topic in sorted(offsets)
    }
