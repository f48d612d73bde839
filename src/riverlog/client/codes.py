"""Kafka's error codes as a client sees them: which pass by themselves, what the others mean."""

from collections.abc import Callable

from riverlog.client.errors import (
    ClientError,
    GroupInUse,
    InvalidArgument,
    NotAuthorized,
    OffsetOutOfRange,
    Refused,
    TooLarge,
    TopicExists,
    UnknownGroup,
    UnknownTopic,
    Unsupported,
)
from riverlog.protocol.error_codes import ErrorCode

# Someone else leads now, or nobody does yet: learn who, then ask again.
MOVED = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.NOT_CONTROLLER,
    }
)

# The same broker may well say yes in a moment; what was asked has not been done.
PASSING = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)

# It may or may not have been done.
UNCERTAIN = frozenset(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)

# The broker has lost track of this producer's sequence numbers.
IDENTITY_LOST = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.PRODUCER_FENCED,
    }
)

OVERSIZED = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})

_MEANINGS: dict[int, Callable[[str], ClientError]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: UnknownTopic,
    ErrorCode.UNKNOWN_TOPIC_ID: UnknownTopic,
    ErrorCode.GROUP_ID_NOT_FOUND: UnknownGroup,
    ErrorCode.NON_EMPTY_GROUP: GroupInUse,
    ErrorCode.TOPIC_ALREADY_EXISTS: TopicExists,
    ErrorCode.MESSAGE_TOO_LARGE: TooLarge,
    ErrorCode.RECORD_LIST_TOO_LARGE: TooLarge,
    ErrorCode.OFFSET_OUT_OF_RANGE: OffsetOutOfRange,
    ErrorCode.UNSUPPORTED_VERSION: Unsupported,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: NotAuthorized,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: NotAuthorized,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: NotAuthorized,
    ErrorCode.INVALID_TOPIC_EXCEPTION: InvalidArgument,
    ErrorCode.INVALID_PARTITIONS: InvalidArgument,
    ErrorCode.INVALID_REPLICATION_FACTOR: InvalidArgument,
    ErrorCode.INVALID_CONFIG: InvalidArgument,
    ErrorCode.INVALID_REQUEST: InvalidArgument,
    ErrorCode.INVALID_RECORD: InvalidArgument,
    ErrorCode.INVALID_TIMESTAMP: InvalidArgument,
    ErrorCode.INVALID_GROUP_ID: InvalidArgument,
    ErrorCode.POLICY_VIOLATION: InvalidArgument,
}


def name_of(code: int) -> str:
    """Kafka's name of an error code; a code too new for us is called by its number."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"ERROR_{code}"


def failure(code: int, subject: str, told: str | None = None) -> ClientError:
    """What to raise for `code`: `subject` is what was asked about, `told` the broker's words."""
    name = name_of(code)
    message = f"{subject}: {told or name.lower().replace('_', ' ')}"
    meaning = _MEANINGS.get(code)
    return Refused(name, f"{message} ({name})") if meaning is None else meaning(message)
