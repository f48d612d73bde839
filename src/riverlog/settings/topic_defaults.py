"""What topics have unless they say otherwise."""

from riverlog.config import BrokerSettings
from riverlog.log.settings import LogSettings
from riverlog.settings.kinds import INT32_MAX, choice, duration, number, size
from riverlog.settings.setting import Setting, of

_GROUP = "what topics have unless they say otherwise"

TOPIC_DEFAULTS = (
    of(
        LogSettings,
        "segment_bytes",
        _GROUP,
        "log.segment.bytes",
        size(14, INT32_MAX),
        "A file of a partition is closed when it would outgrow this. Smaller than Kafka's, so "
        "that old data go in finer steps.",
    ),
    of(
        LogSettings,
        "segment_ms",
        _GROUP,
        "log.roll.ms",
        duration(1),
        "A file of a partition is closed when its first record is this old.",
    ),
    of(
        LogSettings,
        "segment_records",
        _GROUP,
        "riverlog.log.segment.records",
        number(1),
        "A file of a partition is closed when it holds so many records.",
    ),
    of(
        LogSettings,
        "cleanup_policy",
        _GROUP,
        "log.cleanup.policy",
        choice("delete", "compact", "delete,compact", "compact,delete"),
        "What becomes of old records: deleted, or kept as long as their key has no newer one.",
    ),
    of(
        LogSettings,
        "retention_ms",
        _GROUP,
        "log.retention.ms",
        duration(-1),
        "Closed files go whose records are all older; -1 keeps them for ever.",
    ),
    of(
        LogSettings,
        "retention_bytes",
        _GROUP,
        "log.retention.bytes",
        size(-1),
        "The oldest files of a partition go while the rest still has so many bytes; -1 for no "
        "limit.",
    ),
    of(
        LogSettings,
        "retention_segments",
        _GROUP,
        "riverlog.log.retention.segments",
        number(-1),
        "The oldest files of a partition go while it has more than so many; -1 for no limit.",
    ),
    of(
        LogSettings,
        "file_delete_delay_ms",
        _GROUP,
        "log.segment.delete.delay.ms",
        duration(),
        "How long a file that has to go stays for those who read it just then.",
    ),
    of(
        LogSettings,
        "message_bytes_max",
        _GROUP,
        "message.max.bytes",
        size(0, INT32_MAX),
        "The largest batch of records that is taken.",
    ),
    Setting(
        _GROUP,
        "log.message.timestamp.type",
        choice("CreateTime", "LogAppendTime"),
        "CreateTime",
        "Whether records keep the time their producer gave them, or get that of their arrival.",
        LogSettings,
        "uses_append_time",
    ),
    of(
        LogSettings,
        "timestamp_before_ms_max",
        _GROUP,
        "log.message.timestamp.before.max.ms",
        duration(),
        "Records whose time lies further back are refused.",
    ),
    of(
        LogSettings,
        "timestamp_after_ms_max",
        _GROUP,
        "log.message.timestamp.after.max.ms",
        duration(),
        "Records whose time lies further ahead are refused.",
    ),
    of(
        LogSettings,
        "checkpoint_bytes",
        _GROUP,
        "riverlog.checkpoint.bytes",
        size(1),
        "Recovery after a crash reads at most about so much of a partition.",
    ),
    of(
        BrokerSettings,
        "retention_check_ms",
        _GROUP,
        "log.retention.check.interval.ms",
        duration(1),
        "How often files are looked for that have to go. Each time at most one file of a "
        "partition goes because of its age: a clock that is wrong for a while costs little.",
    ),
    of(
        BrokerSettings,
        "producer_expiration_ms",
        _GROUP,
        "producer.id.expiration.ms",
        duration(1),
        "An idempotent producer that wrote nothing to a partition for so long is forgotten there.",
    ),
)
