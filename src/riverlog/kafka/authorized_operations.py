"""What clients may do, as replies tell it: one bit for each of Kafka's operations, by its number.

There is no authorization here, so everybody may do all there is to do.
"""

from enum import IntEnum


class Operation(IntEnum):
    """Kafka's numbers for what can be done to a topic, to a group or to the cluster."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


_CLUSTER_ONLY = {Operation.CLUSTER_ACTION, Operation.IDEMPOTENT_WRITE}
_TOPIC_ONLY = {Operation.READ, Operation.WRITE, Operation.DELETE}
_OF_GROUP = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)

NOT_ASKED = -(2**31)
ALL_OF_TOPIC = sum(1 << operation for operation in Operation if operation not in _CLUSTER_ONLY)
ALL_OF_GROUP = sum(1 << operation for operation in _OF_GROUP)
ALL_OF_CLUSTER = sum(1 << operation for operation in Operation if operation not in _TOPIC_ONLY)
