"""Differences in what concerns records: Produce, InitProducerId, Fetch, ListOffsets."""

from riverlog.protocol.schema import Versions
from tests.conformance.differential.differences import Difference
from tests.conformance.differential.fields import ABSENT, PRESENT

_ERROR = "responses.partition_responses.error_code"
_MESSAGE = "responses.partition_responses.error_message"
_BASE_OFFSET = "responses.partition_responses.base_offset"
_LOG_START = "responses.partition_responses.log_start_offset"

PRODUCE = (
    Difference(
        (
            "places that do not exist take no records",
            "acks that nobody defined are refused",
            "batches that are broken are refused",
            "batches of brokers are not taken from clients",
            "batches above the largest size are refused",
            "batches whose contents lie",
            "repeated batches are told apart from new ones",
            "an unknown producer may begin anywhere",
            "compacted topics want keys",
        ),
        _MESSAGE,
        None,
        "a text",
        "every refusal says what was wrong, where Kafka leaves most to the error code",
    ),
    Difference(
        ("batches that are broken are refused",),
        _ERROR,
        "INVALID_RECORD",
        "CORRUPT_MESSAGE",
        "bytes that were lost on the way are told as such: clients send them again",
        steps=("cut", "cut in its header"),
    ),
    Difference(
        ("batches that are broken are refused",),
        _ERROR,
        ...,
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "a record format that we do not know is told as such: sending it again cannot help",
        steps=("magic 1", "magic 7"),
    ),
    *(
        Difference(
            ("batches whose contents lie",),
            field,
            ...,
            ...,
            "only compacted topics open batches: what a checksum covers is the producer's affair",
            steps=(
                "no records at all", "bytes after the last record", "not what was compressed",
                "a record more", "how many were taken",
            ),
        )
        for field in (_ERROR, _BASE_OFFSET, "topics.partitions.offset")
    ),
    *(
        Difference(
            ("batches whose contents lie",),
            field,
            ...,
            ...,
            "only a broker may say that a time is the broker's",
            steps=("the time of another broker",),
        )
        for field in (_ERROR, _BASE_OFFSET)
    ),
    Difference(
        ("batches whose contents lie",),
        _ERROR,
        "UNKNOWN_SERVER_ERROR",
        "INVALID_RECORD",
        "a codec that nobody knows is the batch's fault, not the server's",
        steps=("an unknown codec",),
    ),
    Difference(
        ("batches whose contents lie",),
        _LOG_START,
        -1,
        0,
        "a codec that nobody knows is the batch's fault, not the server's",
        steps=("an unknown codec",),
        versions=Versions("5-6"),
    ),
    *(
        Difference(
            ("batches above the size of a segment are refused",),
            field,
            ...,
            ...,
            "a segment takes one batch at least, however large",
        )
        for field in (_ERROR, _BASE_OFFSET, _LOG_START)
    ),
    Difference(
        ("repeated batches are told apart from new ones",),
        "responses.partition_responses.log_append_time_ms",
        "a time",
        -1,
        "a repeated batch is answered with -1 for the time, as its original was",
        steps=("first again", "last but four again"),
    ),
)  # fmt: skip

FETCH = (
    Difference(
        ("limits cut between batches or give one",),
        "responses.partitions.records.cut_bytes",
        ...,
        0,
        "a batch that does not fit is left out, where Kafka sends its first part",
        steps=("two batches and a half",),
    ),
)  # fmt: skip

OFFSETS = (
    Difference(
        ("places that do not exist have no offsets",),
        "topics.partitions",
        ABSENT,
        PRESENT,
        "a partition named twice is refused twice, once for each mention",
        steps=("twice",),
    ),
)
