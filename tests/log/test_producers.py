"""Idempotence: what is a repetition, what comes next, and what must not come."""

import pytest

from riverlog.log.checkpoint import Checkpoint, freeze
from riverlog.log.producers import (
    UNKNOWN_MS,
    FencedProducer,
    OutOfOrderSequence,
    Producers,
    RefusedBefore,
    following,
)
from riverlog.records.batch import BatchHeader, assign_offsets, read_header
from tests.log.logs import NOW_MS, batch_of

LAST = 2**31 - 1


def header(
    sequence: int, count: int = 1, *, epoch: int = 0, base_offset: int = 0, producer_id: int = 7
) -> BatchHeader:
    batch = bytearray(batch_of(*[b"."] * count, producer=(producer_id, epoch), sequence=sequence))
    assign_offsets(batch, 0, base_offset, 1)
    return read_header(batch)


def with_batches(*sequences: int, epoch: int = 0) -> Producers:
    """Producers after these one-record batches, whose offsets begin at 100."""
    producers = Producers()
    for number, sequence in enumerate(sequences):
        producers.apply(header(sequence, epoch=epoch, base_offset=100 + number), NOW_MS)
    return producers


def test_a_producer_that_is_not_known_begins_anywhere() -> None:
    assert Producers().find_duplicate(header(17)) is None


def test_the_next_sequence_is_appended() -> None:
    assert with_batches(0, 1).find_duplicate(header(2)) is None


@pytest.mark.parametrize("sequence", range(5))
def test_each_of_the_last_five_batches_is_recognised(sequence: int) -> None:
    written = with_batches(0, 1, 2, 3, 4).find_duplicate(header(sequence))
    assert written is not None
    assert (written.base_offset, written.last_offset) == (100 + sequence, 100 + sequence)


def test_a_batch_older_than_five_is_out_of_order() -> None:
    with pytest.raises(OutOfOrderSequence):
        with_batches(0, 1, 2, 3, 4, 5).find_duplicate(header(0))


def test_a_gap_is_out_of_order() -> None:
    with pytest.raises(OutOfOrderSequence):
        with_batches(0, 1).find_duplicate(header(3))


def test_a_batch_that_overlaps_is_no_repetition() -> None:
    producers = Producers()
    producers.apply(header(0, 3), NOW_MS)
    with pytest.raises(OutOfOrderSequence):
        producers.find_duplicate(header(0, 2))
    with pytest.raises(OutOfOrderSequence):
        producers.find_duplicate(header(1, 3))


def test_sequences_go_on_at_zero_after_the_last() -> None:
    assert following(LAST) == 0
    producers = with_batches(LAST)
    assert producers.find_duplicate(header(0)) is None
    producers.apply(header(0, base_offset=101), NOW_MS)
    assert producers.find_duplicate(header(1)) is None


def test_a_batch_may_reach_over_the_last_sequence() -> None:
    producers = Producers()
    producers.apply(header(LAST - 1, 4), NOW_MS)
    assert producers.find_duplicate(header(LAST - 1, 4)) is not None
    assert producers.find_duplicate(header(2)) is None
    with pytest.raises(OutOfOrderSequence):
        producers.find_duplicate(header(1))


def test_an_older_epoch_is_fenced() -> None:
    with pytest.raises(FencedProducer):
        with_batches(0, epoch=2).find_duplicate(header(1, epoch=1))


def test_a_new_epoch_begins_at_zero() -> None:
    producers = with_batches(0, 1)
    assert producers.find_duplicate(header(0, epoch=1)) is None
    with pytest.raises(OutOfOrderSequence):
        producers.find_duplicate(header(2, epoch=1))


def test_a_new_epoch_forgets_the_batches_of_the_old_one() -> None:
    producers = with_batches(0, 1)
    producers.apply(header(0, epoch=1, base_offset=102), NOW_MS)
    written = producers.find_duplicate(header(0, epoch=1))
    assert written is not None
    assert written.base_offset == 102
    with pytest.raises(OutOfOrderSequence):
        producers.find_duplicate(header(2, epoch=1))


def test_what_was_refused_must_come_before_what_was_sent_after_it() -> None:
    producers = Producers()
    producers.refuse(7, 0, 4)
    with pytest.raises(RefusedBefore):
        producers.find_duplicate(header(5))
    assert producers.find_duplicate(header(4)) is None


def test_what_follows_a_refused_batch_is_refused_until_that_one_has_come_again() -> None:
    producers = with_batches(0, 1)
    producers.refuse(7, 0, 2)
    for _ in range(2):
        with pytest.raises(RefusedBefore):
            producers.find_duplicate(header(3))
    producers.apply(header(2, base_offset=102), NOW_MS)
    assert producers.find_duplicate(header(3)) is None
    with pytest.raises(OutOfOrderSequence) as gap:
        producers.find_duplicate(header(4))
    assert type(gap.value) is OutOfOrderSequence


def test_what_follows_a_refused_beginning_of_an_epoch_is_refused() -> None:
    producers = with_batches(0, 1)
    producers.refuse(7, 1, 0)
    with pytest.raises(RefusedBefore):
        producers.find_duplicate(header(1, epoch=1))
    with pytest.raises(OutOfOrderSequence) as gap:
        producers.find_duplicate(header(9))
    assert type(gap.value) is OutOfOrderSequence


def test_those_whose_latest_batches_are_lost_are_refused_what_follows_them() -> None:
    lost, kept = with_batches(0, 1, 2), with_batches(0, 1)
    kept.miss(lost)
    with pytest.raises(RefusedBefore):
        kept.find_duplicate(header(3))
    assert kept.find_duplicate(header(2)) is None
    unknown = Producers()
    unknown.miss(lost)
    with pytest.raises(RefusedBefore):
        unknown.find_duplicate(header(3))
    assert unknown.find_duplicate(header(0)) is None


def test_those_who_have_lost_nothing_are_told_of_gaps_as_ever() -> None:
    kept = with_batches(0, 1)
    kept.miss(with_batches(0, 1))
    with pytest.raises(OutOfOrderSequence) as gap:
        kept.find_duplicate(header(3))
    assert type(gap.value) is OutOfOrderSequence


def test_a_producer_that_is_known_is_not_set_back_by_a_refusal() -> None:
    producers = with_batches(0, 1)
    producers.refuse(7, 0, 2)
    assert producers.find_duplicate(header(1)) is not None
    assert producers.find_duplicate(header(2)) is None


def test_a_checkpoint_brings_producers_back() -> None:
    producers = with_batches(3, 4, 5, 6, 7, 8)
    content = Checkpoint(0, 0, 0, 0, 0, 0, 0, (), freeze(producers)).to_bytes()
    _, again = Checkpoint.from_bytes(content).restore()
    written = again.find_duplicate(header(4))
    assert written is not None
    assert written.base_offset == 101
    assert again.find_duplicate(header(9)) is None
    with pytest.raises(OutOfOrderSequence):
        again.find_duplicate(header(3))


def test_a_checkpoint_does_not_change_with_what_comes_after() -> None:
    producers = with_batches(0)
    frozen = freeze(producers)
    producers.apply(header(1, base_offset=101), NOW_MS)
    assert [len(batches) for _, _, batches, _ in frozen] == [1]


def test_a_checkpoint_leaves_out_who_has_nothing_in_the_log() -> None:
    producers = Producers()
    producers.refuse(7, 0, 4)
    assert freeze(producers) == ()


def test_a_producer_is_forgotten_after_its_silence_by_our_clock_whatever_its_records_say() -> None:
    producers = Producers()
    producers.apply(header(0, producer_id=1), NOW_MS)
    producers.apply(header(0, producer_id=2), NOW_MS + 500)
    assert producers.expire(NOW_MS + 1_000, silence_ms=1_000) == 0
    assert producers.expire(NOW_MS + 1_001, silence_ms=1_000) == 1
    assert [producer_id for producer_id, _ in producers] == [2]


def test_writing_again_puts_it_off() -> None:
    producers = Producers()
    producers.apply(header(0), NOW_MS)
    producers.apply(header(1, base_offset=101), NOW_MS + 900)
    assert producers.expire(NOW_MS + 1_500, silence_ms=1_000) == 0


def test_a_time_that_nobody_knows_or_that_is_to_come_counts_from_now_on() -> None:
    for known_ms in (UNKNOWN_MS, NOW_MS + 1_000_000):
        producers = Producers()
        producers.apply(header(0), known_ms)
        assert producers.expire(NOW_MS, silence_ms=1_000) == 0
        assert producers.expire(NOW_MS + 1_000, silence_ms=1_000) == 0
        assert producers.expire(NOW_MS + 1_001, silence_ms=1_000) == 1


def test_when_a_producer_last_wrote_outlives_a_restart() -> None:
    producers = Producers()
    producers.apply(header(0), NOW_MS)
    content = Checkpoint(0, 0, 0, 0, 0, 0, 0, (), freeze(producers)).to_bytes()
    _, again = Checkpoint.from_bytes(content).restore()
    assert again.expire(NOW_MS + 1_001, silence_ms=1_000) == 1


def test_of_too_many_those_silent_for_longest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("riverlog.log.producers.PRODUCERS_MAX", 3)
    producers = Producers()
    for producer_id in (1, 2, 3):
        producers.apply(header(0, producer_id=producer_id), NOW_MS)
    producers.apply(header(1, base_offset=101, producer_id=1), NOW_MS)
    producers.apply(header(0, producer_id=4), NOW_MS)
    assert [producer_id for producer_id, _ in producers] == [3, 1, 4]
