"""Facts as bytes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.cluster.facts import (
    BrokerStarted,
    ClusterFormed,
    Fact,
    ProducerIdsTaken,
    UnknownFact,
    decode,
    encode,
)
from riverlog.cluster.topics import PartitionsAdded, TopicConfigured, TopicCreated, TopicDeleted

texts = st.text(max_size=30)
ids = st.binary(min_size=16, max_size=16)
numbers = st.integers(0, 2**63 - 1)

facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(ClusterFormed, texts),
    st.builds(BrokerStarted, numbers),
    st.builds(ProducerIdsTaken, numbers),
    st.builds(TopicCreated, ids, texts, numbers, st.dictionaries(texts, texts, max_size=3)),
    st.builds(TopicDeleted, ids),
    st.builds(TopicConfigured, ids, st.dictionaries(texts, texts, max_size=3)),
    st.builds(PartitionsAdded, ids, numbers),
)


@given(facts)
def test_what_is_encoded_is_what_is_decoded(fact: Fact) -> None:
    decoded = decode(encode(fact))
    assert type(decoded) is type(fact)
    assert decoded == fact


@given(st.binary(max_size=100))
def test_any_bytes_are_a_fact_or_none_we_know(data: bytes) -> None:
    with suppress(UnknownFact):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"3",
        b"null",
        b"{}",
        b'{"fact": 7}',
        b'{"fact": "moon landed"}',
        b'{"fact": "topic deleted"}',
        b'{"fact": "topic deleted", "topic_id": "xyz"}',
        b'{"fact": "topic created", "topic_id": "00"}',
        b'{"fact": "topic configured", "topic_id": "00"}',
        b'{"fact": "partitions added", "partitions": 3}',
    ],
)
def test_what_this_version_does_not_know_is_refused(data: bytes) -> None:
    with pytest.raises(UnknownFact):
        decode(data)
