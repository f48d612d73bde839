"""The topics in what consumers tell each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.groups.subscription import subscribed_topics

TWO = b"\0\1" + b"\0\0\0\2" + b"\0\1a" + b"\0\2bc" + b"\xff\xff\xff\xff"


def test_topics_are_found_whatever_follows() -> None:
    assert subscribed_topics(TWO) == ["a", "bc"]
    assert subscribed_topics(TWO + b"more") == ["a", "bc"]


@pytest.mark.parametrize("end", range(len(TWO) - 4))
def test_what_is_cut_has_no_topics(end: int) -> None:
    assert subscribed_topics(TWO[:end]) == []


@given(st.binary(max_size=100))
def test_any_bytes_are_read_without_a_failure(metadata: bytes) -> None:
    subscribed_topics(metadata)
