"""What a query may be told: the options of Spark's own Kafka source and sink, read and checked."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from riverlog.client.settings import ClientSettings
from riverlog.spark.client_options import PREFIX, bootstrap_of, client_settings, whole_number
from riverlog.spark.errors import InvalidOption
from riverlog.spark.offsets import parse_partitions
from riverlog.spark.places import Place, ending_place, starting_place

_CHOICES = ("subscribe", "subscribePattern", "assign")
_STARTS = (
    "startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets",
    "startingOffsetsByTimestampStrategy",
)  # fmt: skip
_ENDS = ("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets")
_OTHERS = (
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions",
    "maxRecordsPerPartition", "failOnDataLoss", "includeHeaders", "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs",
    "partition.metadata.cache.ttl.ms",
)  # fmt: skip
READING = (*_CHOICES, *_STARTS, *_ENDS, *_OTHERS)
# Spark hands a query's own options to its sink as well.
WRITING = ("topic", "checkpointLocation", "queryName")

DEFAULT_GROUP_PREFIX = "spark-kafka-source"
_TRIGGER_DELAY = "15m"
_DURATION = re.compile(r"(\d+)\s*(ms|s|m|min|h|d)?")
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class Chosen(NamedTuple):
    """What to read; exactly one of these is set."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: Mapping[str, list[int]] | None = None


class SourceOptions(NamedTuple):
    """How to read."""

    bootstrap: str
    settings: ClientSettings
    chosen: Chosen
    start: Place
    end: Place
    beyond_is_latest: bool
    rows_max: int | None
    rows_min: int | None
    delay_ms_max: int
    min_partitions: int | None
    records_per_partition_max: int | None
    fails_on_data_loss: bool
    group: str


class SinkOptions(NamedTuple):
    """How to write; without a topic here, every row names its own."""

    bootstrap: str
    settings: ClientSettings
    topic: str | None


def includes_headers(options: Mapping[str, str]) -> bool:
    """Whether a source has a column for headers without being asked for it by a schema."""
    return _truth(_named(options, READING), "includeHeaders", default=False)


def check_either_way(options: Mapping[str, str]) -> None:
    """Raises `InvalidOption` for what neither a batch nor a stream could be told."""
    source_options(options, is_streaming=not _named(options, _ENDS))


def source_options(options: Mapping[str, str], *, is_streaming: bool) -> SourceOptions:
    """How to read; raises `InvalidOption`."""
    _check_names(options, READING, "a source")
    named = _named(options, READING)
    if is_streaming and (ending := [name for name in _ENDS if name in named]):
        raise InvalidOption(f"{ending[0]} is for batch queries: a stream does not end")
    chosen = _chosen(named)
    rows_max = _number(named, "maxOffsetsPerTrigger")
    rows_min = _number(named, "minOffsetsPerTrigger")
    if rows_max is not None and rows_min is not None and rows_min > rows_max:
        raise InvalidOption("minOffsetsPerTrigger cannot be more than maxOffsetsPerTrigger")
    strategy = named.get("startingOffsetsByTimestampStrategy", "error").strip().lower()
    if strategy not in ("error", "latest"):
        raise InvalidOption(
            f"startingOffsetsByTimestampStrategy is error or latest, not '{strategy}'"
        )
    # What they tune is not there: lookups are tried until the timeout, and nothing is cached.
    for name in ("fetchOffset.numRetries", "fetchOffset.retryIntervalMs"):
        whole_number(name, named.get(name, "0"), 0)
    settings = client_settings(_lower(options))
    if poll_timeout_ms := _number(named, "kafkaConsumer.pollTimeoutMs"):
        settings = settings._replace(timeout_ms=poll_timeout_ms)
    return SourceOptions(
        bootstrap=bootstrap_of(_lower(options)),
        settings=settings,
        chosen=chosen,
        start=starting_place(named, is_streaming=is_streaming),
        end=ending_place(named),
        beyond_is_latest=strategy == "latest",
        rows_max=rows_max,
        rows_min=rows_min,
        delay_ms_max=_duration_ms("maxTriggerDelay", named.get("maxTriggerDelay", _TRIGGER_DELAY)),
        min_partitions=_number(named, "minPartitions"),
        records_per_partition_max=_number(named, "maxRecordsPerPartition"),
        fails_on_data_loss=_truth(named, "failOnDataLoss", default=True),
        group=_group(options, named, chosen),
    )


def sink_options(options: Mapping[str, str]) -> SinkOptions:
    """How to write; raises `InvalidOption`."""
    _check_names(options, WRITING, "a sink")
    named = _named(options, WRITING)
    topic = named.get("topic")
    if topic is not None and not topic.strip():
        raise InvalidOption("topic is the name of a topic, or is left out")
    return SinkOptions(
        bootstrap=bootstrap_of(_lower(options)),
        settings=client_settings(_lower(options)),
        topic=topic,
    )


def _lower(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}


def _named(options: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """By the names of the documentation: Spark gives them in lower case."""
    given = _lower(options)
    return {name: given[name.lower()] for name in names if name.lower() in given}


def _check_names(options: Mapping[str, str], names: tuple[str, ...], of: str) -> None:
    known = {name.lower(): name for name in names}
    for name in options:
        if name.lower() not in known and not name.lower().startswith(PREFIX):
            close = get_close_matches(name.lower(), known, 1)
            hint = f"; is {known[close[0]]} meant?" if close else ""
            raise InvalidOption(f"{name} is no option of {of}{hint}")


def _chosen(named: Mapping[str, str]) -> Chosen:
    given = [name for name in _CHOICES if name in named]
    if len(given) != 1:
        what = " and ".join(given) if given else "none of them"
        raise InvalidOption(f"one of {', '.join(_CHOICES)} says what to read, not {what}")
    text = named[given[0]].strip()
    match given[0]:
        case "subscribe":
            topics = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
            if not topics:
                raise InvalidOption("subscribe is a list of topics, with commas between them")
            return Chosen(topics=topics)
        case "subscribePattern":
            try:
                re.compile(text)
            except re.error as error:
                raise InvalidOption(f"subscribePattern '{text}' is no pattern: {error}") from None
            return Chosen(pattern=text)
    return Chosen(partitions=parse_partitions("assign", text))


def _group(options: Mapping[str, str], named: Mapping[str, str], chosen: Chosen) -> str:
    """The consumer group that shows how far a stream is.

    Its default name follows from what is read: the same query has the same group every time.
    """
    given = _lower(options).get("kafka.group.id")
    if given:
        return given
    prefix = named.get("groupIdPrefix", DEFAULT_GROUP_PREFIX)
    return f"{prefix}-{hashlib.sha256(repr(chosen).encode()).hexdigest()[:12]}"


def _number(named: Mapping[str, str], name: str) -> int | None:
    return whole_number(name, named[name], 1) if name in named else None


def _truth(named: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = named.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise InvalidOption(f"{name} is true or false, not '{named[name]}'")
    return text == "true"


def _duration_ms(name: str, text: str) -> int:
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidOption(f"{name} is a duration like 90s or 15m, not '{text}'")
    return int(found[1]) * _UNITS_MS[found[2] or "ms"]
