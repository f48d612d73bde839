"""The one table from what happened to Kafka's error codes."""

from riverlog.broker.errors import (
    FencedEpoch,
    InvalidConfig,
    InvalidTimestamp,
    InvalidTransaction,
    RecordsTooLarge,
    UnknownEpoch,
    UnknownTopic,
    UnknownTopicId,
)
from riverlog.cluster.topics import InvalidPartitionCount, InvalidTopicName, TopicExists
from riverlog.log.errors import LogClosed, OffsetOutOfRange, StorageFailed
from riverlog.log.producers import FencedProducer, OutOfOrderSequence
from riverlog.protocol.error_codes import ErrorCode
from riverlog.records.errors import BatchError, CorruptBatch, InvalidRecord, UnsupportedMagic


class InvalidRequest(Exception):
    """The request contradicts itself; the message says where."""


class InvalidReplicationFactor(Exception):
    """A topic cannot have so many copies here."""


class InvalidReplicaAssignment(Exception):
    """Partitions are placed on brokers that are not there, or not all of them are placed."""


CODES: dict[type[Exception], ErrorCode] = {
    InvalidRequest: ErrorCode.INVALID_REQUEST,
    InvalidReplicationFactor: ErrorCode.INVALID_REPLICATION_FACTOR,
    InvalidReplicaAssignment: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    UnknownTopic: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    UnknownTopicId: ErrorCode.UNKNOWN_TOPIC_ID,
    FencedEpoch: ErrorCode.FENCED_LEADER_EPOCH,
    UnknownEpoch: ErrorCode.UNKNOWN_LEADER_EPOCH,
    TopicExists: ErrorCode.TOPIC_ALREADY_EXISTS,
    InvalidTopicName: ErrorCode.INVALID_TOPIC_EXCEPTION,
    InvalidPartitionCount: ErrorCode.INVALID_PARTITIONS,
    InvalidConfig: ErrorCode.INVALID_CONFIG,
    RecordsTooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    InvalidTimestamp: ErrorCode.INVALID_TIMESTAMP,
    InvalidTransaction: ErrorCode.INVALID_TXN_STATE,
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    UnsupportedMagic: ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    BatchError: ErrorCode.CORRUPT_MESSAGE,
    OutOfOrderSequence: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    FencedProducer: ErrorCode.INVALID_PRODUCER_EPOCH,
    StorageFailed: ErrorCode.KAFKA_STORAGE_ERROR,
    LogClosed: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    OffsetOutOfRange: ErrorCode.OFFSET_OUT_OF_RANGE,
    OSError: ErrorCode.KAFKA_STORAGE_ERROR,
}

# What a handler catches where it can answer; anything else is our own mistake.
ANSWERABLE = tuple(CODES)


def code_of(error: BaseException) -> ErrorCode:
    """The code for an error, by its class or the nearest one above it in the table."""
    for cls in type(error).__mro__:
        found = CODES.get(cls)
        if found is not None:
            return found
    return ErrorCode.UNKNOWN_SERVER_ERROR
