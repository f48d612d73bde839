"""Checkpoints and seals as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.log.checkpoint import Checkpoint, Seal
from riverlog.log.producers import Remembered, Written

numbers = st.integers(-(2**63), 2**64 - 1)
written = st.builds(Written, numbers, numbers, numbers, numbers, numbers)
batch_tuples = st.lists(written, min_size=1, max_size=5).map(tuple)

seals = st.builds(Seal, *[numbers] * 7)
checkpoints = st.builds(
    Checkpoint,
    *[numbers] * 7,
    st.lists(st.tuples(numbers, numbers), max_size=4).map(tuple),
    st.lists(st.builds(Remembered, numbers, numbers, batch_tuples, numbers), max_size=4).map(tuple),
    numbers,
)


@given(seals)
def test_a_seal_comes_back_as_it_was(seal: Seal) -> None:
    assert Seal.from_bytes(seal.to_bytes()) == seal


@given(checkpoints)
def test_a_checkpoint_comes_back_as_it_was(checkpoint: Checkpoint) -> None:
    assert Checkpoint.from_bytes(checkpoint.to_bytes()) == checkpoint


def test_what_earlier_versions_wrote_is_read_without_the_times_they_did_not_know() -> None:
    seal = Seal.from_bytes(
        b'{"size_bytes": 1, "next_offset": 2, "resume_offset": 3, "hash": 4, '
        b'"max_timestamp_ms": 5, "record_count": 6}'
    )
    checkpoint = Checkpoint.from_bytes(
        b'{"segment": 1, "position": 2, "next_offset": 3, "log_start_offset": 0, "hash": 4, '
        b'"max_timestamp_ms": 5, "record_count": 6, "epochs": [[1, 0]], '
        b'"producers": [[7, 0, [[0, 1, 2, 3, 4]]]]}'
    )
    assert seal == Seal(1, 2, 3, 4, 5, 6, -1)
    assert checkpoint.last_append_ms == -1
    assert checkpoint.producers == (Remembered(7, 0, (Written(0, 1, 2, 3, 4),), -1),)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff"])
def test_what_is_neither_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Seal.from_bytes(data)
    with pytest.raises(ValueError, match="JSON"):
        Checkpoint.from_bytes(data)
