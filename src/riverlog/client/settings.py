"""What a client can be told, and what it uses of the world."""

from typing import NamedTuple

from riverlog.config import KIB, MIB
from riverlog.records.compression import Codec
from riverlog.runtime.chance import Chance, SystemChance
from riverlog.runtime.clock import Clock, SystemClock


class ClientSettings(NamedTuple):
    """How a client behaves; Kafka's name where Kafka has the setting.

    Attributes:
        client_id: `client.id`. What the broker's log calls us.
        timeout_ms: `delivery.timeout.ms`. How long one call may take with all its tries; then it
            raises. Long enough to sit out the restart of a broker.
        request_timeout_ms: `request.timeout.ms`. How long one answer may take before the
            connection is given up.
        connect_timeout_ms: `socket.connection.setup.timeout.ms`. The same for connecting.
        backoff_ms_min: `retry.backoff.ms`. The pause after a first failure; it doubles.
        backoff_ms_max: `retry.backoff.max.ms`. The longest pause between two tries.
        compression: `compression.type`. Of the batches that are sent.
        batch_bytes_max: `batch.size`. Records of one batch, before they are compressed.
        buffer_bytes_max: `buffer.memory`. Records that wait to be confirmed; whoever publishes
            more waits until there is room.
        fetch_bytes_max: `fetch.max.bytes`. Of one answer with records.
        partition_fetch_bytes_max: `max.partition.fetch.bytes`. Of one partition in it.
        fetch_wait_ms: `fetch.max.wait.ms`. How long the broker may wait for new records.
        auto_create_topics: `allow.auto.create.topics`. Whether publishing to a missing topic
            asks the broker to create it.
    """

    client_id: str = "riverlog"
    timeout_ms: int = 30_000
    request_timeout_ms: int = 10_000
    connect_timeout_ms: int = 5_000
    backoff_ms_min: int = 50
    backoff_ms_max: int = 1_000
    compression: Codec = Codec.NONE
    batch_bytes_max: int = 256 * KIB
    buffer_bytes_max: int = 32 * MIB
    fetch_bytes_max: int = 8 * MIB
    partition_fetch_bytes_max: int = 1 * MIB
    fetch_wait_ms: int = 500
    auto_create_topics: bool = True


class ClientWorld(NamedTuple):
    """Where a client takes time and chance from."""

    clock: Clock = SystemClock()
    chance: Chance = SystemChance()
