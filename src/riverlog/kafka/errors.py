"""The one table from what happened to Kafka's error codes."""

from riverlog.broker.errors import (
    FencedEpoch,
    InternalTopic,
    InvalidConfig,
    InvalidTimestamp,
    InvalidTransaction,
    KeylessRecords,
    PolicyViolation,
    RecordsTooLarge,
    UnknownEpoch,
    UnknownTopic,
    UnknownTopicId,
)
from riverlog.cluster.topics import (
    InvalidPartitionCount,
    InvalidTopicName,
    NoSuchTopic,
    TopicExists,
)
from riverlog.groups.errors import (
    CoordinatorLoading,
    CoordinatorUnavailable,
    FencedInstance,
    GroupFull,
    GroupNotEmpty,
    GroupNotFound,
    GroupSubscribed,
    IllegalGeneration,
    InconsistentProtocol,
    InvalidGroupId,
    InvalidMember,
    InvalidSessionTimeout,
    MemberIdRequired,
    OffsetMetadataTooLarge,
    RebalanceInProgress,
    UnknownMember,
)
from riverlog.log.errors import LogClosed, OffsetOutOfRange, StorageFailed
from riverlog.log.producers import FencedProducer, OutOfOrderSequence
from riverlog.protocol.error_codes import ErrorCode
from riverlog.records.errors import (
    BatchError,
    CorruptBatch,
    DecompressionTooLarge,
    InvalidRecord,
    UnsupportedMagic,
)


class InvalidRequest(Exception):
    """The request contradicts itself; the message says where."""


class InvalidRequiredAcks(Exception):
    """Nobody has defined what such acks would mean."""


class UnsupportedCompression(Exception):
    """Whoever speaks this version of the protocol does not know the codec."""


class InvalidReplicationFactor(Exception):
    """A topic cannot have so many copies here."""


class InvalidReplicaAssignment(Exception):
    """Partitions are placed on brokers that are not there, or not all of them are placed."""


CODES: dict[type[Exception], ErrorCode] = {
    InvalidRequest: ErrorCode.INVALID_REQUEST,
    InvalidRequiredAcks: ErrorCode.INVALID_REQUIRED_ACKS,
    UnsupportedCompression: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    InvalidReplicationFactor: ErrorCode.INVALID_REPLICATION_FACTOR,
    InvalidReplicaAssignment: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    UnknownTopic: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    NoSuchTopic: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    UnknownTopicId: ErrorCode.UNKNOWN_TOPIC_ID,
    InternalTopic: ErrorCode.INVALID_TOPIC_EXCEPTION,
    FencedEpoch: ErrorCode.FENCED_LEADER_EPOCH,
    UnknownEpoch: ErrorCode.UNKNOWN_LEADER_EPOCH,
    TopicExists: ErrorCode.TOPIC_ALREADY_EXISTS,
    InvalidTopicName: ErrorCode.INVALID_TOPIC_EXCEPTION,
    InvalidPartitionCount: ErrorCode.INVALID_PARTITIONS,
    InvalidConfig: ErrorCode.INVALID_CONFIG,
    RecordsTooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    InvalidTimestamp: ErrorCode.INVALID_TIMESTAMP,
    KeylessRecords: ErrorCode.INVALID_RECORD,
    InvalidTransaction: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    PolicyViolation: ErrorCode.POLICY_VIOLATION,
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    UnsupportedMagic: ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    # Clients that can, send a batch that is too large again in parts.
    DecompressionTooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    BatchError: ErrorCode.CORRUPT_MESSAGE,
    OutOfOrderSequence: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    FencedProducer: ErrorCode.INVALID_PRODUCER_EPOCH,
    StorageFailed: ErrorCode.KAFKA_STORAGE_ERROR,
    LogClosed: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    OffsetOutOfRange: ErrorCode.OFFSET_OUT_OF_RANGE,
    CoordinatorLoading: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    CoordinatorUnavailable: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    FencedInstance: ErrorCode.FENCED_INSTANCE_ID,
    GroupFull: ErrorCode.GROUP_MAX_SIZE_REACHED,
    GroupNotEmpty: ErrorCode.NON_EMPTY_GROUP,
    GroupNotFound: ErrorCode.GROUP_ID_NOT_FOUND,
    GroupSubscribed: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    IllegalGeneration: ErrorCode.ILLEGAL_GENERATION,
    InconsistentProtocol: ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    InvalidGroupId: ErrorCode.INVALID_GROUP_ID,
    InvalidMember: ErrorCode.INVALID_REQUEST,
    InvalidSessionTimeout: ErrorCode.INVALID_SESSION_TIMEOUT,
    MemberIdRequired: ErrorCode.MEMBER_ID_REQUIRED,
    OffsetMetadataTooLarge: ErrorCode.OFFSET_METADATA_TOO_LARGE,
    RebalanceInProgress: ErrorCode.REBALANCE_IN_PROGRESS,
    UnknownMember: ErrorCode.UNKNOWN_MEMBER_ID,
    OSError: ErrorCode.KAFKA_STORAGE_ERROR,
}

# What a handler catches where it can answer; anything else is our own mistake.
ANSWERABLE = tuple(CODES)

# A string of a reply holds 32,767 bytes, and a client's own words alone may have as many.
MESSAGE_CHARACTERS_MAX = 4_000


def code_of(error: BaseException) -> ErrorCode:
    """The code for an error, by its class or the nearest one above it in the table."""
    for cls in type(error).__mro__:
        found = CODES.get(cls)
        if found is not None:
            return found
    return ErrorCode.UNKNOWN_SERVER_ERROR


def message_of(error: BaseException) -> str:
    """What a client is told of an error; always fits into a reply."""
    return shortened(str(error))


def shortened(message: str) -> str:
    """A message that quotes what a client said, cut where that was said at length."""
    if len(message) <= MESSAGE_CHARACTERS_MAX:
        return message
    return f"{message[: MESSAGE_CHARACTERS_MAX - 1]}…"
