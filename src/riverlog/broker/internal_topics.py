"""The topics that are the broker's own: clients read them, and leave them as they are."""

from collections.abc import Mapping

OFFSETS_TOPIC = "__consumer_offsets"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC})

# As Kafka has them; its segments are smaller than others', so that compaction has less to hold.
OFFSETS_CONFIGS: Mapping[str, str] = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": str(100 << 20),
}
