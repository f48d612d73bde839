"""Topic settings as clients write them, by Kafka's names, turned into ours."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from riverlog.broker.errors import InvalidConfig
from riverlog.log.settings import INT64_MAX, LogSettings

INT32_MAX = 2**31 - 1


def _integer(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ValueError(f"must be between {least} and {most}")
        return value

    return parse


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return parse


# Those we act on: the name, how its text is read, and which of our settings it is.
_ACTED_ON: dict[str, tuple[Callable[[str], Any], str]] = {
    "segment.bytes": (_integer(14, INT32_MAX), "segment_bytes"),
    "segment.ms": (_integer(1, INT64_MAX), "segment_ms"),
    "riverlog.segment.records": (_integer(1, INT64_MAX), "segment_records"),
    "max.message.bytes": (_integer(0, INT32_MAX), "message_bytes_max"),
    "message.timestamp.before.max.ms": (_integer(0, INT64_MAX), "timestamp_before_ms_max"),
    "message.timestamp.after.max.ms": (_integer(0, INT64_MAX), "timestamp_after_ms_max"),
    "message.timestamp.type": (_choice("CreateTime", "LogAppendTime"), "uses_append_time"),
}

# Those of Kafka's that are accepted, kept and shown, and do nothing here yet.
_ACCEPTED = frozenset(
    {
        "cleanup.policy", "compression.gzip.level", "compression.lz4.level", "compression.type",
        "compression.zstd.level", "delete.retention.ms", "file.delete.delay.ms", "flush.messages",
        "flush.ms", "follower.replication.throttled.replicas", "index.interval.bytes",
        "leader.replication.throttled.replicas", "local.retention.bytes", "local.retention.ms",
        "max.compaction.lag.ms", "min.cleanable.dirty.ratio", "min.compaction.lag.ms",
        "min.insync.replicas", "preallocate", "remote.log.copy.disable",
        "remote.log.delete.on.disable", "remote.storage.enable", "retention.bytes",
        "retention.ms", "segment.index.bytes", "segment.jitter.ms",
        "unclean.leader.election.enable",
    }
)  # fmt: skip


def settings_from(configs: Mapping[str, str], defaults: LogSettings) -> LogSettings:
    """The settings of a topic's logs; raises `InvalidConfig` naming the first wrong one."""
    changes: dict[str, Any] = {}
    for name, text in configs.items():
        if name in _ACCEPTED:
            continue
        if name not in _ACTED_ON:
            raise InvalidConfig(f"Unknown topic config name: {name}")
        parse, field = _ACTED_ON[name]
        try:
            value = parse(text)
        except ValueError as error:
            raise InvalidConfig(f"Invalid value {text} for configuration {name}: {error}") from None
        changes[field] = value == "LogAppendTime" if field == "uses_append_time" else value
    return defaults._replace(**changes)


class ConfigInEffect(NamedTuple):
    """A setting of a topic as clients see it; `is_default` says that nobody chose it."""

    name: str
    value: str
    is_default: bool


def in_effect(configs: Mapping[str, str], defaults: LogSettings) -> list[ConfigInEffect]:
    """Everything that was set, and the defaults of what we act on, in the order of names."""
    chosen = [ConfigInEffect(name, value, False) for name, value in configs.items()]
    rest = [
        ConfigInEffect(name, _text_of(getattr(defaults, field)), True)
        for name, (_, field) in _ACTED_ON.items()
        if name not in configs
    ]
    return sorted(chosen + rest)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "LogAppendTime" if value else "CreateTime"
    return str(value)
