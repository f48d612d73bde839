"""How many partitions a client wants, and where: checked against what there is, one broker."""

from collections.abc import Sequence

from riverlog.broker.errors import PolicyViolation
from riverlog.kafka.errors import InvalidReplicaAssignment

# By one request, as with Kafka.
ADDED_MAX = 10_000


def too_many() -> PolicyViolation:
    """Why a request that adds more than `ADDED_MAX` partitions is refused, in Kafka's words."""
    return PolicyViolation("Excessively large number of partitions per request.")


def check_replicas(broker_ids: Sequence[int], node_id: int) -> None:
    """Raises `InvalidReplicaAssignment`, in Kafka's words, unless this broker alone is meant."""
    if not broker_ids:
        raise InvalidReplicaAssignment(
            "The manual partition assignment includes an empty replica list."
        )
    for broker_id in broker_ids:
        if broker_id != node_id:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes broker {broker_id}, but no such broker "
                "is registered."
            )
    if len(broker_ids) > 1:
        raise InvalidReplicaAssignment(
            f"The manual partition assignment includes the broker {node_id} more than once."
        )
