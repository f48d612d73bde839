"""How consumer groups are run, and how long what they committed is kept."""

from riverlog.groups.settings import GroupSettings
from riverlog.settings.kinds import INT32_MAX, duration, number, size
from riverlog.settings.setting import of

_GROUP = "consumer groups"

GROUPS = (
    of(
        GroupSettings,
        "initial_delay_ms",
        _GROUP,
        "group.initial.rebalance.delay.ms",
        duration(0, INT32_MAX),
        "How long the first member of a group waits for more. Kafka waits 3 s; 100 ms catch those "
        "that are started together, and whoever starts a single one does not notice.",
    ),
    of(
        GroupSettings,
        "session_timeout_ms_min",
        _GROUP,
        "group.min.session.timeout.ms",
        duration(1, INT32_MAX),
        "The shortest time a member may ask to be silent for before it is given up.",
    ),
    of(
        GroupSettings,
        "session_timeout_ms_max",
        _GROUP,
        "group.max.session.timeout.ms",
        duration(1, INT32_MAX),
        "The longest such time.",
    ),
    of(
        GroupSettings,
        "size_max",
        _GROUP,
        "group.max.size",
        number(1, INT32_MAX),
        "How many members a group may have. Kafka has no limit; a loop that joins with fresh ids "
        "must not take all memory.",
    ),
    of(
        GroupSettings,
        "groups_max",
        _GROUP,
        "riverlog.groups.max",
        number(1, INT32_MAX),
        "How many groups there may be. New ones are told to come back later then.",
    ),
    of(
        GroupSettings,
        "members_bytes_max",
        _GROUP,
        "riverlog.group.members.max.bytes",
        size(1),
        "What all members of all groups may say of themselves: the topics they want, and more. "
        "Who would say more is told to come back later.",
    ),
    of(
        GroupSettings,
        "metadata_bytes_max",
        _GROUP,
        "offset.metadata.max.bytes",
        size(0, 2**15 - 1),
        "The longest text beside a committed offset.",
    ),
    of(
        GroupSettings,
        "retention_minutes",
        _GROUP,
        "offsets.retention.minutes",
        number(1, INT32_MAX),
        "How long the offsets of a group without members are kept, in minutes.",
    ),
    of(
        GroupSettings,
        "retention_check_ms",
        _GROUP,
        "offsets.retention.check.interval.ms",
        duration(1, INT32_MAX),
        "How often old offsets are looked for.",
    ),
    of(
        GroupSettings,
        "partition_count",
        _GROUP,
        "offsets.topic.num.partitions",
        number(1, 1_000),
        "How many partitions the topic of committed offsets has, once it is made. Kafka has 50 to "
        "spread groups over many brokers; one process needs few.",
    ),
)
