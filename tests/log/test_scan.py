"""Walking a segment: what is sound, what is a hole, what is torn."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.log import scan as scan_module
from riverlog.log.epochs import NO_EPOCH, Epochs
from riverlog.log.scan import Fits, Scanned, known_from, rising_to, scan
from riverlog.records.batch import BatchHeader, assign_offsets
from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import SimulatedDisk
from tests.log.logs import batch_of

EPOCH_MAX = 5
EPOCH_AT = 12
LENGTH_AT = 8


def placed(base_offset: int, epoch: int, *values: bytes) -> bytes:
    batch = bytearray(batch_of(*values))
    assign_offsets(batch, 0, base_offset, epoch)
    return bytes(batch)


def log_of(*epochs: int) -> list[bytes]:
    """One-record batches at these epochs, offsets from 0."""
    return [placed(offset, epoch, b"<%d>" % offset) for offset, epoch in enumerate(epochs)]


def walk(
    data: bytes, fits: Fits | None = None, anchors: tuple[int, ...] = ()
) -> tuple[list[tuple[int, int]], Scanned]:
    """Offset and position of every batch that was told of, and how the walk ended."""
    disk = SimulatedDisk(Random(0))
    told: list[tuple[int, int]] = []

    def tell(header: BatchHeader, position: int, batch: memoryview) -> None:
        assert data[position : position + header.size_bytes] == batch
        told.append((header.base_offset, position))

    with opened(disk.create("segment")) as file:
        file.write(0, data)
        fits = fits or rising_to(EPOCH_MAX)
        return told, scan(file, 0, len(data), 0, NO_EPOCH, fits, tell, anchors)


def changed(data: bytes, position: int, mask: int = 1) -> bytes:
    copy = bytearray(data)
    copy[position] ^= mask
    return bytes(copy)


def test_sound_batches_are_told_of_in_order() -> None:
    batches = log_of(1, 1, 2)
    size = len(batches[0])
    told, scanned = walk(b"".join(batches))
    assert told == [(0, 0), (1, size), (2, 2 * size)]
    assert (scanned.position, scanned.next_offset, scanned.epoch) == (3 * size, 3, 2)
    assert (scanned.holes, scanned.torn) == ([], None)


def test_zeros_behind_the_batches_are_nothing() -> None:
    batches = log_of(1, 1)
    told, scanned = walk(b"".join(batches) + bytes(5_000))
    assert len(told) == 2
    assert scanned.torn is None
    assert scanned.position == len(b"".join(batches))


def test_a_cut_batch_at_the_end_is_torn() -> None:
    batches = log_of(1, 1)
    told, scanned = walk(b"".join(batches)[:-3] + bytes(500))
    assert told == [(0, 0)]
    assert scanned.torn == (len(batches[0]), len(b"".join(batches)) - 3)


def test_a_bad_batch_before_a_good_one_is_a_hole() -> None:
    batches = log_of(1, 1, 1)
    size = len(batches[0])
    told, scanned = walk(changed(b"".join(batches), size + 70))
    assert [offset for offset, _ in told] == [0, 2]
    assert scanned.holes == [(size, 2 * size)]
    assert scanned.torn is None


def test_offsets_may_be_missing_only_behind_a_hole() -> None:
    data = placed(0, 1, b"a") + placed(2, 1, b"c")
    told, scanned = walk(data)
    assert [offset for offset, _ in told] == [0]
    assert scanned.torn is not None


@pytest.mark.parametrize("epoch", [0, EPOCH_MAX + 1])
def test_an_epoch_that_cannot_be_makes_a_hole(epoch: int) -> None:
    data = b"".join([placed(0, 1, b"a"), placed(1, epoch, b"b"), placed(2, 1, b"c")])
    told, _ = walk(data)
    assert [offset for offset, _ in told] == [0, 2]


def test_an_epoch_that_was_raised_costs_only_its_own_batch() -> None:
    batches = log_of(1, 1, 1, 1, 2)
    batches[1] = placed(1, 4, b"<1>")
    told, _ = walk(b"".join(batches))
    assert [offset for offset, _ in told] == [0, 2, 3, 4]


def test_an_epoch_that_was_lowered_costs_only_its_own_batch() -> None:
    batches = log_of(1, 3, 3, 3)
    batches[2] = placed(2, 2, b"<2>")
    told, _ = walk(b"".join(batches))
    assert [offset for offset, _ in told] == [0, 1, 3]


def test_known_epochs_are_held_to_exactly() -> None:
    batches = log_of(1, 2, 2)
    known = known_from(Epochs([(1, 0), (3, 1)]), next_offset=3)
    told, _ = walk(b"".join(batches), known)
    assert [offset for offset, _ in told] == [0]


def test_what_was_known_ends_where_it_was_known_to() -> None:
    told, _ = walk(b"".join(log_of(1, 1, 1)), known_from(Epochs([(1, 0)]), next_offset=2))
    assert [offset for offset, _ in told] == [0, 1]


@pytest.mark.parametrize("mask", [1, 2, 16, 128])
@pytest.mark.parametrize("byte", range(4))
def test_a_length_that_lies_hides_no_other_batch(byte: int, mask: int) -> None:
    batches = log_of(1, 1, 1, 1)
    told, _ = walk(changed(b"".join(batches), len(batches[0]) + LENGTH_AT + byte, mask))
    assert [offset for offset, _ in told] == [0, 2, 3]


def test_a_batch_inside_a_record_is_never_taken_for_one_of_the_log() -> None:
    inner = placed(40, 1, b"not of this log")
    outer = placed(0, 1, b"before" + inner + b"after")
    data = changed(outer, len(outer) - 2) + placed(1, 1, b"next")
    told, scanned = walk(data)
    assert told == [(1, len(outer))]
    assert scanned.holes == [(0, len(outer))]


def test_a_batch_inside_a_torn_record_is_never_taken_for_one_of_the_log() -> None:
    inner = placed(40, 1, b"not of this log")
    outer = placed(0, 1, inner + b"x" * 500)
    told, scanned = walk(outer[:400] + bytes(600))
    assert told == []
    assert scanned.torn == (0, 400)


def test_a_known_beginning_counts_even_inside_of_what_a_bad_batch_claims() -> None:
    batches = log_of(1, 1, 1)
    size = len(batches[0])
    data = changed(b"".join(batches), LENGTH_AT + 2)
    data = changed(data, size + 70)
    assert walk(data)[0] == []
    assert walk(data, anchors=(2 * size,))[0] == [(2, 2 * size)]


@given(
    st.lists(st.integers(1, 400), min_size=2, max_size=12),
    st.data(),
)
def test_one_changed_byte_costs_one_batch_however_the_windows_fall(
    sizes: list[int], data: st.DataObject
) -> None:
    batches = [placed(offset, 1, b"v" * size) for offset, size in enumerate(sizes)]
    hit = data.draw(st.integers(0, len(batches) - 1))
    at = data.draw(st.integers(61, len(batches[hit]) - 1))
    position = sum(map(len, batches[:hit])) + at
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_module, "WINDOW_BYTES", data.draw(st.integers(100, 600)))
        told, _ = walk(changed(b"".join(batches), position) + bytes(700))
    assert [offset for offset, _ in told] == [o for o in range(len(batches)) if o != hit]
