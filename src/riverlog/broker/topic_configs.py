"""Topic settings as clients write them, by Kafka's names: one table, and what follows from it.

Every topic setting of Kafka 4.2 is here, and ours. Those with a `field` we act on; the others are
checked, kept and shown, and have no effect. Their documentation is in `topic_config_docs.py`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from riverlog.broker.config_kinds import (
    INT64_MAX,
    KindName,
    Read,
    Value,
    boolean,
    choice,
    gzip_level,
    ratio,
    replicas,
    some_of,
    whole,
    written,
)
from riverlog.broker.errors import InvalidConfig
from riverlog.log.settings import LogSettings


class TopicConfig(NamedTuple):
    """One setting that topics may have.

    Attributes:
        name: Kafka's name, or ours, which begins with `riverlog.`.
        kind: Kafka's name for the kind of its values.
        read: Reads a value from text; raises `ValueError`.
        default: Its text when nobody chose one; without meaning if there is a `field`.
        broker_name: The broker's setting that gives its default; "" if there is none.
        field: Which of our `LogSettings` it is; "" if it has no effect here.
        is_bare: Whether Kafka's own broker setting has no value unless somebody gives one.
    """

    name: str
    kind: KindName
    read: Read
    default: str = ""
    broker_name: str = ""
    field: str = ""
    is_bare: bool = False


_LONG, _INT = whole("LONG", 0), whole("INT", 0)
_FOREVER = str(INT64_MAX)

_ALL = (
    TopicConfig(
        "cleanup.policy",
        "LIST",
        some_of("compact", "delete"),
        "",
        "log.cleanup.policy",
        field="cleanup_policy",
    ),
    TopicConfig("compression.gzip.level", "INT", gzip_level, "-1", "compression.gzip.level"),
    TopicConfig("compression.lz4.level", "INT", whole("INT", 1, 17), "9", "compression.lz4.level"),
    TopicConfig(
        "compression.type",
        "STRING",
        choice("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "producer",
        "compression.type",
    ),
    TopicConfig(
        "compression.zstd.level", "INT", whole("INT", -131072, 22), "3", "compression.zstd.level"
    ),
    TopicConfig(
        "delete.retention.ms", "LONG", _LONG, "86400000", "log.cleaner.delete.retention.ms"
    ),
    TopicConfig(
        "file.delete.delay.ms",
        "LONG",
        _LONG,
        "",
        "log.segment.delete.delay.ms",
        field="file_delete_delay_ms",
    ),
    TopicConfig(
        "flush.messages", "LONG", whole("LONG", 1), _FOREVER, "log.flush.interval.messages"
    ),
    TopicConfig("flush.ms", "LONG", _LONG, _FOREVER, "log.flush.interval.ms", is_bare=True),
    TopicConfig("follower.replication.throttled.replicas", "LIST", replicas),
    TopicConfig("index.interval.bytes", "INT", _INT, "4096", "log.index.interval.bytes"),
    TopicConfig("leader.replication.throttled.replicas", "LIST", replicas),
    TopicConfig(
        "local.retention.bytes", "LONG", whole("LONG", -2), "-2", "log.local.retention.bytes"
    ),
    TopicConfig("local.retention.ms", "LONG", whole("LONG", -2), "-2", "log.local.retention.ms"),
    TopicConfig(
        "max.compaction.lag.ms",
        "LONG",
        whole("LONG", 1),
        _FOREVER,
        "log.cleaner.max.compaction.lag.ms",
    ),
    TopicConfig(
        "max.message.bytes", "INT", _INT, "", "message.max.bytes", field="message_bytes_max"
    ),
    TopicConfig(
        "message.timestamp.after.max.ms",
        "LONG",
        _LONG,
        "",
        "log.message.timestamp.after.max.ms",
        field="timestamp_after_ms_max",
    ),
    TopicConfig(
        "message.timestamp.before.max.ms",
        "LONG",
        _LONG,
        "",
        "log.message.timestamp.before.max.ms",
        field="timestamp_before_ms_max",
    ),
    TopicConfig(
        "message.timestamp.type",
        "STRING",
        choice("CreateTime", "LogAppendTime"),
        "",
        "log.message.timestamp.type",
        field="uses_append_time",
    ),
    TopicConfig(
        "min.cleanable.dirty.ratio", "DOUBLE", ratio, "0.5", "log.cleaner.min.cleanable.ratio"
    ),
    TopicConfig("min.compaction.lag.ms", "LONG", _LONG, "0", "log.cleaner.min.compaction.lag.ms"),
    TopicConfig("min.insync.replicas", "INT", whole("INT", 1), "1", "min.insync.replicas"),
    TopicConfig("preallocate", "BOOLEAN", boolean, "false", "log.preallocate"),
    TopicConfig("remote.log.copy.disable", "BOOLEAN", boolean, "false"),
    TopicConfig("remote.log.delete.on.disable", "BOOLEAN", boolean, "false"),
    TopicConfig("remote.storage.enable", "BOOLEAN", boolean, "false"),
    TopicConfig(
        "retention.bytes",
        "LONG",
        whole("LONG", -INT64_MAX - 1),
        "",
        "log.retention.bytes",
        field="retention_bytes",
    ),
    TopicConfig(
        "retention.ms",
        "LONG",
        whole("LONG", -1),
        "",
        "log.retention.ms",
        field="retention_ms",
        is_bare=True,
    ),
    TopicConfig(
        "riverlog.retention.segments",
        "LONG",
        whole("LONG", -1),
        "",
        "riverlog.log.retention.segments",
        field="retention_segments",
    ),
    TopicConfig(
        "riverlog.segment.records",
        "LONG",
        whole("LONG", 1),
        "",
        "riverlog.log.segment.records",
        field="segment_records",
    ),
    # Kafka wants a mebibyte at least from 4.1 on; before, and here, small ones are welcome.
    TopicConfig(
        "segment.bytes", "INT", whole("INT", 14), "", "log.segment.bytes", field="segment_bytes"
    ),
    TopicConfig(
        "segment.index.bytes", "INT", whole("INT", 4), "10485760", "log.index.size.max.bytes"
    ),
    TopicConfig("segment.jitter.ms", "LONG", _LONG, "0", "log.roll.jitter.ms", is_bare=True),
    TopicConfig(
        "segment.ms", "LONG", whole("LONG", 1), "", "log.roll.ms", "segment_ms", is_bare=True
    ),
    TopicConfig(
        "unclean.leader.election.enable",
        "BOOLEAN",
        boolean,
        "false",
        "unclean.leader.election.enable",
    ),
)

TOPIC_CONFIGS: dict[str, TopicConfig] = {config.name: config for config in _ALL}


def check(configs: Mapping[str, str]) -> None:
    """Raises `InvalidConfig`, in Kafka's words, if a topic may not have these settings."""
    for name in configs:
        if name not in TOPIC_CONFIGS:
            raise InvalidConfig(f"Unknown topic config name: {name}")
    values = {name: read(TOPIC_CONFIGS[name], text) for name, text in configs.items()}
    least, most = (
        values.get(name, int(TOPIC_CONFIGS[name].default))
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    if least > most:  # type: ignore[operator]  # both are whole numbers
        raise InvalidConfig(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})"
        )
    if values.get("remote.storage.enable"):
        raise InvalidConfig(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )


def settings_from(configs: Mapping[str, str], defaults: LogSettings) -> LogSettings:
    """The settings of a topic's logs.

    A stored setting that cannot be read, or that only another version knows, leaves the default;
    one that decides which records go lets none go.
    """
    changes: dict[str, Any] = {}
    for name, text in configs.items():
        config = TOPIC_CONFIGS.get(name)
        if config is not None and config.field:
            try:
                changes[config.field] = _setting(config, read(config, text))
            except InvalidConfig:
                if config.field in _KEEPING_ALL:
                    changes[config.field] = _KEEPING_ALL[config.field]
    return defaults._replace(**changes)


def default_of(config: TopicConfig, defaults: LogSettings) -> str:
    """The value of a setting for topics that have none of their own."""
    if not config.field:
        return config.default
    value = getattr(defaults, config.field)
    if config.field == _IS_APPEND:
        return _APPEND if value else "CreateTime"
    return written(value)


def read(config: TopicConfig, text: str) -> Value:
    """The value that a text stands for; raises `InvalidConfig`."""
    try:
        return config.read(text)
    except ValueError as error:
        raise InvalidConfig(str(error).format(name=config.name)) from None


def _setting(config: TopicConfig, value: Value) -> bool | str | int | float:
    """A value as our settings have it; the other way round from `default_of`."""
    if config.field == _IS_APPEND:
        return value == _APPEND
    return written(value) if isinstance(value, tuple) else value


_IS_APPEND = "uses_append_time"
_APPEND = "LogAppendTime"
_KEEPING_ALL = {
    "cleanup_policy": "",
    "retention_ms": -1,
    "retention_bytes": -1,
    "retention_segments": -1,
}
