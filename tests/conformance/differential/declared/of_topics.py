"""Differences in what concerns topics: CreateTopics, CreatePartitions, DeleteTopics, Metadata."""

from riverlog.protocol.schema import Versions
from tests.conformance.differential.differences import Difference
from tests.conformance.differential.fields import ABSENT, PRESENT

_ZERO_ID = bytes(16)

TOPICS = (
    Difference(
        (
            "what is only checked is not made", "names that cannot be are refused",
            "more partitions than kafka makes at once",
        ),
        "topics.topic_id",
        "an id",
        _ZERO_ID,
        "a topic that is not made has no id, where Kafka makes one up",
    ),
    *(
        Difference(
            ("partitions are added",),
            field,
            kafka,
            riverlog,
            "too many partitions for one request are told as such, Kafka fails without a word",
            steps=("10,001 more",),
        )
        for field, kafka, riverlog in (
            ("results.error_code", "UNKNOWN_SERVER_ERROR", "POLICY_VIOLATION"),
            ("results.error_message", None, "a text"),
        )
    ),
    Difference(
        ("topics end",),
        "responses",
        ABSENT,
        PRESENT,
        "a topic named twice is refused twice, once for each mention",
        steps=("a name twice",),
    ),
    Difference(
        ("topics end by id",),
        "responses",
        ...,
        ...,
        "a topic given by name and by id is refused for each, by what it was given by",
        steps=("name and id apart",),
    ),
)  # fmt: skip

METADATA = (
    Difference(
        ("topics are made when asked for",),
        "topics.error_code",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "NONE",
        "a topic that is made because a client asked for it is in the same reply, ready for use",
        steps=("new",),
    ),
    Difference(
        ("topics are made when asked for",),
        "topics.partitions",
        ABSENT,
        PRESENT,
        "a topic that is made because a client asked for it is in the same reply, ready for use",
        steps=("new",),
    ),
    Difference(
        ("topics are made when asked for",),
        "topics.topic_id",
        _ZERO_ID,
        "an id",
        "a topic that is made because a client asked for it is in the same reply, ready for use",
        steps=("new",),
    ),
    *(
        Difference(
            ("topics are found by id",),
            field,
            ...,
            ...,
            "ids may be asked for from version 10 on, where Kafka refuses them before 12",
            versions=Versions("10-11"),
        )
        for field in (
            "brokers", "cluster_id", "controller_id", "topics", "topics.error_code",
            "topics.partitions",
        )
    ),
    *(
        Difference(
            ("topics are found by id",),
            field,
            ...,
            ...,
            "a topic without a name or an id is an unknown one, where Kafka fails on the request",
            steps=("neither",),
            versions=Versions("12-13"),
        )
        for field in (
            "brokers", "cluster_id", "controller_id", "topics.error_code", "topics.name",
            "error_code",
        )
    ),
)  # fmt: skip
