"""The comparison itself: it sees what differs, and believes only what was declared."""

from riverlog.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.conformance.differential.comparison import Mismatch, explains, mismatches, summary
from tests.conformance.differential.conversation import Told
from tests.conformance.differential.differences import Difference
from tests.conformance.differential.fields import ABSENT, PRESENT, Value, fields_of, general
from tests.conformance.differential.scripts.requests import produce


def told(*topics: MetadataResponseTopic) -> list[Told]:
    return [Told("step", 12, fields_of(MetadataResponse(brokers=[], topics=topics), 12))]


def topic(name: str, *leaders: int, error_code: int = 0, topic_id: bytes = bytes(16)):  # type: ignore[no-untyped-def]  # a table
    partitions = [
        MetadataResponsePartition(
            partition_index=index, leader_id=leader, replica_nodes=[1], isr_nodes=[1]
        )
        for index, leader in enumerate(leaders)
    ]
    return MetadataResponseTopic(
        name=name, error_code=error_code, topic_id=topic_id, partitions=partitions
    )


def test_equal_replies_have_no_mismatch_whatever_the_order() -> None:
    one, two = topic("one", 1), topic("two", 1)
    assert not list(mismatches(told(one, two), told(two, one)))


def test_a_field_that_differs_is_named_by_its_path() -> None:
    found = list(mismatches(told(topic("a.b", 1, 1)), told(topic("a.b", 1, 7))))
    assert found == [Mismatch("step", 12, "topics[a.b].partitions[1].leader_id", 1, 7)]
    assert general(found[0].path) == "topics.partitions.leader_id"


def test_an_element_that_one_lacks_is_told_once() -> None:
    found = list(mismatches(told(topic("t", 1)), told(topic("t"))))
    assert [(one.path, one.kafka, one.riverlog) for one in found] == [
        ("topics[t].partitions[0]", PRESENT, ABSENT)
    ]


def test_ids_made_by_chance_may_differ_but_not_be_missing() -> None:
    given, other, missing = b"a" * 16, b"b" * 16, bytes(16)
    kafka = told(topic("t", topic_id=given))
    assert not list(mismatches(kafka, told(topic("t", topic_id=other))))
    assert list(mismatches(kafka, told(topic("t", topic_id=missing))))


def test_records_are_compared_by_batch() -> None:
    batches = [build_batch([Record(0, 5, None, value)]) for value in (b"one", b"two")]
    replies = [[Told("step", 9, fields_of(produce("t", batch), 9))] for batch in batches]
    paths = [general(one.path) for one in mismatches(*replies)]
    assert paths == ["topic_data.partition_data.records.body"]


def test_only_what_was_declared_is_explained() -> None:
    mismatch = Mismatch("step", 12, "topics[t].error_code", "NONE", "INVALID_REQUEST")

    def declared(field: str = "topics.error_code", kafka: Value = "NONE", **rest: object) -> bool:
        values = {"scripts": ("x",), "field": field, "kafka": kafka, "riverlog": ..., "why": "so"}
        return explains(Difference(**{**values, **rest}), mismatch)  # type: ignore[arg-type]  # any

    assert declared()
    assert declared(steps=("step",), key="t")
    assert not declared(field="topics.name")
    assert not declared(kafka="INVALID_REQUEST")
    assert not declared(steps=("another",))
    assert not declared(key="another")


def test_the_summary_says_a_difference_of_several_versions_once() -> None:
    same = [Mismatch("step", v, f"topics[a-v{v}-b].name", 1, 2) for v in (3, 4)]
    text = summary(same, [])
    assert "v3,4 step: topics[a-v*-b].name" in text
    assert text.count("Kafka:") == 1
