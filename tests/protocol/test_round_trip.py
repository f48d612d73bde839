"""What is encoded is what is decoded: every message, every version."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.protocol.codec import decode, encode
from tests.protocol.strategies import PAIR_IDS, PAIRS, with_unknown_tags


@pytest.mark.parametrize(("cls", "version"), PAIRS, ids=PAIR_IDS)
@settings(max_examples=5, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_what_is_encoded_is_what_is_decoded(cls: Any, version: int, data: st.DataObject) -> None:
    message = data.draw(with_unknown_tags(cls, version))
    assert decode(cls, version, encode(message, version)) == message
