"""How a topic keeps its records; Kafka's names for the same things are in the comments."""

from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB
HOUR_MS = 3_600_000
INT64_MAX = 2**63 - 1


class LogSettings(NamedTuple):
    """The settings of one partition's log. Sizes are in bytes, times in milliseconds."""

    segment_bytes: int = 128 * MIB  # segment.bytes; smaller than Kafka's, so that tiering is finer
    segment_ms: int = 7 * 24 * HOUR_MS  # segment.ms
    segment_records: int = INT64_MAX  # riverlog.segment.records
    message_bytes_max: int = 1 * MIB + 12  # max.message.bytes
    uses_append_time: bool = False  # message.timestamp.type=LogAppendTime
    timestamp_before_ms_max: int = INT64_MAX  # message.timestamp.before.max.ms
    timestamp_after_ms_max: int = HOUR_MS  # message.timestamp.after.max.ms
    checkpoint_bytes: int = 4 * MIB  # ours: recovery after a crash scans at most about this much
    cleanup_policy: str = "delete"  # cleanup.policy: what it names, with commas between
    retention_ms: int = 7 * 24 * HOUR_MS  # retention.ms; -1 for no limit, as of those that follow
    retention_bytes: int = -1  # retention.bytes
    retention_segments: int = -1  # riverlog.retention.segments
    file_delete_delay_ms: int = 60_000  # file.delete.delay.ms

    @property
    def deletes(self) -> bool:
        """Whether records that have had their time go."""
        return "delete" in self.cleanup_policy.split(",")

    @property
    def only_compacts(self) -> bool:
        """Whether records go only when their key has a newer one."""
        return self.cleanup_policy == "compact"
