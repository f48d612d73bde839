"""Where a client wants a partition's copies, checked against what there is: one broker."""

from collections.abc import Sequence

from riverlog.kafka.errors import InvalidReplicaAssignment


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
