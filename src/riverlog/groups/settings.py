"""How groups are run; Kafka's names for the same things are in the comments."""

from typing import NamedTuple

DAY_MS = 86_400_000
MINUTE_MS = 60_000


class GroupSettings(NamedTuple):
    """What members may ask for, and how long things wait. Times are in milliseconds.

    Attributes:
        session_timeout_ms_min: `group.min.session.timeout.ms`.
        session_timeout_ms_max: `group.max.session.timeout.ms`.
        size_max: `group.max.size`. Kafka has no limit; here a loop that joins with fresh ids must
            not take all memory. Ids that were given and not used yet count.
        groups_max: How many groups there may be; a loop that joins groups with fresh names must
            not take all memory either.
        members_bytes_max: What all members of all groups may have said of themselves.
        initial_delay_ms: `group.initial.rebalance.delay.ms`. How long the first member of a group
            waits for more. Kafka waits 3 s; 100 ms catch those that are started together, and
            whoever starts one consumer in a test or on a laptop does not notice.
        newcomer_timeout_ms: How long a new member may wait for its first generation before it is
            given up: one that has no id yet cannot send heartbeats.
        metadata_bytes_max: `offset.metadata.max.bytes`. The text beside a committed offset.
        retention_minutes: `offsets.retention.minutes`. Offsets of a group without members go
            after so long.
        retention_check_ms: `offsets.retention.check.interval.ms`.
        log_length_min: A log of fewer records is never condensed: a start reads so many in the
            time it takes to connect.
        partition_count: `offsets.topic.num.partitions`. Kafka has 50 to spread groups over many
            brokers. Here one process has them all, and every one that is written to costs a
            sync of its own in each round: 4 leave room to grow, at the price of few files.
    """

    session_timeout_ms_min: int = 6_000
    session_timeout_ms_max: int = 30 * MINUTE_MS
    size_max: int = 10_000
    groups_max: int = 100_000
    members_bytes_max: int = 64 << 20
    initial_delay_ms: int = 100
    newcomer_timeout_ms: int = 5 * MINUTE_MS
    metadata_bytes_max: int = 4_096
    retention_minutes: int = 7 * DAY_MS // MINUTE_MS
    retention_check_ms: int = 10 * MINUTE_MS
    log_length_min: int = 5_000
    partition_count: int = 4

    @property
    def retention_ms(self) -> int:
        return self.retention_minutes * MINUTE_MS
