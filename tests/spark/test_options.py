"""Options: those of Spark's own Kafka source and sink, or one sentence that says what is wrong."""

from collections.abc import Iterator

import pytest

from riverlog.records.compression import Codec
from riverlog.spark.errors import InvalidOption
from riverlog.spark.options import (
    READING,
    includes_headers,
    sink_options,
    source_options,
)
from riverlog.spark.places import EARLIEST, LATEST, AllAt, AllAtTime, EachAt, EachAtTime
from riverlog.spark.telling import each_in_a_sentence, in_a_sentence

AT = {"kafka.bootstrap.servers": "127.0.0.1:9092"}
ORDERS = {**AT, "subscribe": "orders"}


def test_what_is_left_out_is_as_in_sparks_own_source() -> None:
    batch = source_options(ORDERS, is_streaming=False)
    stream = source_options(ORDERS, is_streaming=True)

    assert batch.chosen.topics == ("orders",)
    assert (batch.start, batch.end) == (AllAt(EARLIEST), AllAt(LATEST))
    assert stream.start == AllAt(LATEST)
    assert stream.fails_on_data_loss
    assert not includes_headers(ORDERS)
    assert stream.rows_max is stream.rows_min is stream.min_partitions is None
    assert stream.delay_ms_max == 15 * 60_000


def test_names_may_be_written_in_any_case() -> None:
    options = {name.lower(): value for name, value in ORDERS.items()}

    found = source_options({**options, "MAXOFFSETSPERTRIGGER": "10"}, is_streaming=True)

    assert found.rows_max == 10


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"startingOffsets": "earliest"}, AllAt(EARLIEST)),
        ({"startingOffsets": '{"orders": {"0": 5, "1": -2}}'}, EachAt({"orders": {0: 5, 1: -2}})),
        ({"startingTimestamp": "17", "startingOffsets": "earliest"}, AllAtTime(17)),
        (
            {"startingOffsetsByTimestamp": '{"orders": {"0": 17}}', "startingOffsets": "latest"},
            EachAtTime({"orders": {0: 17}}),
        ),
    ],
)
def test_a_time_comes_before_an_offset(given: dict[str, str], place: object) -> None:
    assert source_options({**ORDERS, **given}, is_streaming=True).start == place


def test_topics_are_listed_matched_or_assigned() -> None:
    listed = source_options({**AT, "subscribe": " a, b,,a "}, is_streaming=True)
    matched = source_options({**AT, "subscribePattern": "a.*"}, is_streaming=True)
    assigned = source_options({**AT, "assign": '{"a": [1, 0]}'}, is_streaming=True)

    assert listed.chosen.topics == ("a", "b")
    assert matched.chosen.pattern == "a.*"
    assert assigned.chosen.partitions == {"a": [0, 1]}


def test_a_query_has_the_same_group_every_time_and_others_have_others() -> None:
    def group(**given: str) -> str:
        return source_options({**AT, **given}, is_streaming=True).group

    assert group(subscribe="a").startswith("spark-kafka-source-")
    assert group(subscribe="a") == group(subscribe="a ")
    assert group(subscribe="a") != group(subscribe="b") != group(subscribePattern="b")
    assert group(subscribe="a", groupIdPrefix="shop").startswith("shop-")
    assert group(subscribe="a", **{"kafka.group.id": "mine"}) == "mine"


def test_kafka_options_reach_the_client() -> None:
    found = source_options(
        {**ORDERS, "kafka.fetch.max.bytes": "1000", "kafka.client.id": "me", "kafka.retries": "5"},
        is_streaming=False,
    )
    sink = sink_options({**AT, "kafka.compression.type": "ZSTD", "kafka.acks": "all", "topic": "t"})

    assert found.settings.fetch_bytes_max == 1000
    assert found.settings.client_id == "me"
    assert sink.settings.compression is Codec.ZSTD
    assert sink.topic == "t"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"subscribe": "a", "assign": '{"a": [0]}'}, "not subscribe and assign"),
        ({}, "one of subscribe, subscribePattern, assign says what to read, not none of them"),
        ({"subscribe": " , "}, "subscribe is a list of topics"),
        ({"subscribePattern": "("}, "is no pattern"),
        ({"assign": '{"a": 0}'}, 'assign is JSON like {"orders": [0, 1]}'),
        ({"assign": "{}"}, "assign is JSON like"),
        ({"subscribe": "a", "startingOfsets": "latest"}, "is startingOffsets meant?"),
        ({"subscribe": "a", "path": "x"}, "path is no option of a source"),
        ({"subscribe": "a", "startingOffsets": "first"}, "startingOffsets is JSON like"),
        ({"subscribe": "a", "startingOffsets": "[1]"}, "startingOffsets is JSON like"),
        ({"subscribe": "a", "startingOffsets": '{"a": {"0": "5"}}'}, "is JSON like"),
        ({"subscribe": "a", "startingOffsets": '{"a": {"-1": 5}}'}, "is JSON like"),
        ({"subscribe": "a", "startingOffsets": '{"a": {"0": -3}}'}, "has -3 for a/0"),
        ({"subscribe": "a", "startingTimestamp": "now"}, "is milliseconds since 1970"),
        ({"subscribe": "a", "endingOffsets": "latest"}, "endingOffsets is for batch queries"),
        ({"subscribe": "a", "maxOffsetsPerTrigger": "0"}, "a whole number of at least 1"),
        ({"subscribe": "a", "minPartitions": "two"}, "minPartitions is a whole number"),
        (
            {"subscribe": "a", "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"},
            "cannot be more than maxOffsetsPerTrigger",
        ),
        ({"subscribe": "a", "failOnDataLoss": "yes"}, "failOnDataLoss is true or false, not 'yes'"),
        ({"subscribe": "a", "fetchOffset.numRetries": "x"}, "numRetries is a whole number of at"),
        ({"subscribe": "a", "maxTriggerDelay": "soon"}, "is a duration like 90s or 15m"),
        ({"subscribe": "a", "startingOffsetsByTimestampStrategy": "x"}, "is error or latest"),
        ({"subscribe": "a", "kafka.auto.offset.reset": "x"}, "say where to begin with starting"),
        ({"subscribe": "a", "kafka.sasl.mechanism": "PLAIN"}, "kafka.sasl.mechanism is not known"),
        ({"subscribe": "a", "kafka.isolation.level": "read_committed"}, "is always read_uncommit"),
        ({"subscribe": "a", "kafka.bootstrap.servers": ""}, "kafka.bootstrap.servers is needed"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(given: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        source_options({**AT, **given}, is_streaming=True)

    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_batch_neither_begins_at_the_end_nor_ends_at_the_start() -> None:
    for given in ("latest", '{"orders": {"0": -1}}'):
        with pytest.raises(InvalidOption, match="startingOffsets cannot be the latest"):
            source_options({**ORDERS, "startingOffsets": given}, is_streaming=False)
    for given in ("earliest", '{"orders": {"0": -2}}'):
        with pytest.raises(InvalidOption, match="endingOffsets cannot be the earliest"):
            source_options({**ORDERS, "endingOffsets": given}, is_streaming=False)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"subscribe": "a"}, "subscribe is no option of a sink"),
        ({"topic": " "}, "topic is the name of a topic"),
        ({"kafka.acks": "1"}, "kafka.acks is always all here, not '1'"),
        ({"kafka.compression.type": "brotli"}, "is one of none, gzip"),
        ({"kafka.partitioner.class": "x"}, "a column 'partition' before them"),
        ({"kafka.value.serializer": "x"}, "values are binary or string columns"),
    ],
)
def test_a_sink_says_what_cannot_be(given: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        sink_options({**AT, **given})

    assert told in str(refused.value)


def test_every_option_of_the_documentation_is_known() -> None:
    assert len({name.lower() for name in READING}) == len(READING) == 22


def test_an_error_comes_without_the_way_it_took() -> None:
    def inner() -> None:
        raise InvalidOption("no such thing")

    def failing_rows() -> Iterator[int]:
        yield 1
        inner()

    with pytest.raises(InvalidOption, match="no such thing") as of_a_call:
        in_a_sentence(inner)()
    with pytest.raises(InvalidOption, match="no such thing") as of_rows:
        list(each_in_a_sentence(failing_rows()))

    for refused in (of_a_call, of_rows):
        assert "inner" not in [frame.name for frame in refused.traceback]
