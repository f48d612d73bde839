"""Checkpoints and seals as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.log.checkpoint import Checkpoint, Seal
from riverlog.log.producers import Written

numbers = st.integers(-(2**63), 2**64 - 1)
written = st.builds(Written, numbers, numbers, numbers, numbers, numbers)
batch_tuples = st.lists(written, min_size=1, max_size=5).map(tuple)

seals = st.builds(Seal, numbers, numbers, numbers, numbers, numbers, numbers)
checkpoints = st.builds(
    Checkpoint,
    *[numbers] * 7,
    st.lists(st.tuples(numbers, numbers), max_size=4).map(tuple),
    st.lists(st.tuples(numbers, numbers, batch_tuples), max_size=4).map(tuple),
)


@given(seals)
def test_a_seal_comes_back_as_it_was(seal: Seal) -> None:
    assert Seal.from_bytes(seal.to_bytes()) == seal


@given(checkpoints)
def test_a_checkpoint_comes_back_as_it_was(checkpoint: Checkpoint) -> None:
    assert Checkpoint.from_bytes(checkpoint.to_bytes()) == checkpoint


@pytest.mark.parametrize("data", [b"", b"{", b"\xff"])
def test_what_is_neither_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Seal.from_bytes(data)
    with pytest.raises(ValueError, match="JSON"):
        Checkpoint.from_bytes(data)
