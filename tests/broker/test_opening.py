"""Opening batches out of the loop's way: in order, and with the same verdicts as at once."""

from collections.abc import Callable, Sequence

import pytest

from riverlog.broker import admission
from riverlog.broker.admission import check_keys
from riverlog.broker.errors import KeylessRecords
from riverlog.broker.opening import APART_BYTES_MIN, Opened, Opening
from riverlog.kernel.keys import can_find_keyless, keyless
from riverlog.records.batch import HEADER_SIZE, read_header
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.errors import DecompressionTooLarge, InvalidRecord
from riverlog.records.record import Record
from riverlog.stores.syncer import Done, Job, attempt

NOW_MS = 1_700_000_000_000
needs_kernel = pytest.mark.skipif(not can_find_keyless(), reason="the kernel was not built")


class HeldSyncer:
    """Runs nothing until it is told to."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] = []

    def run(self, jobs: Sequence[Job], done: Done) -> None:
        raise AssertionError("this is no sync")

    def run_apart(self, job: Job, done: Done) -> None:
        self._held.append(lambda: done([attempt(job)]))

    def close(self) -> None:
        """Nothing runs."""

    def run_next(self) -> None:
        self._held.pop(0)()

    @property
    def count(self) -> int:
        return len(self._held)


def batch_of(*keys: bytes | None, codec: Codec = Codec.NONE) -> bytes:
    records = [Record(number, NOW_MS, key, b"v") for number, key in enumerate(keys)]
    return build_batch(records, codec=codec)


def test_one_is_opened_at_a_time_and_told_of_in_the_order_they_came() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    told: list[tuple[str, Opened]] = []
    opening.open(batch_of(b"a"), lambda opened: told.append(("good", opened)))
    opening.open(batch_of(None), lambda opened: told.append(("bad", opened)))
    assert syncer.count == 1

    syncer.run_next()
    syncer.run_next()

    (good, verdict), (bad, refusal) = told
    assert (good, bad) == ("good", "bad")
    assert verdict.error is None
    assert isinstance(refusal.error, KeylessRecords)
    assert not opening.is_busy


def test_small_ones_are_opened_at_once_unless_they_would_overtake() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    small = batch_of(b"a")
    assert not opening.takes(small)
    assert opening.takes(batch_of(b"a" * APART_BYTES_MIN))
    assert opening.takes(batch_of(b"a", codec=Codec.ZSTD))
    assert not opening.takes(b"no batch at all")
    opening.open(small, lambda _opened: None)
    assert opening.takes(small)
    syncer.run_next()
    assert not opening.takes(small)


def test_whoever_fails_when_told_does_not_hold_up_the_next() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    told: list[Opened] = []

    def fail(_opened: Opened) -> None:
        raise ZeroDivisionError

    opening.open(batch_of(b"a"), fail)
    opening.open(batch_of(b"a"), told.append)
    with pytest.raises(ZeroDivisionError):
        syncer.run_next()
    syncer.run_next()
    assert told == [Opened(None)]


@needs_kernel
@pytest.mark.parametrize("codec", Codec)
def test_the_kernel_names_the_same_records(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [b"key" if number % 7 else None for number in range(2_000)]
    batch = batch_of(*keys, codec=codec)
    with pytest.raises(KeylessRecords) as by_kernel:
        check_keys(batch)
    monkeypatch.setattr("riverlog.kernel.keys.can_find_keyless", lambda: False)
    with pytest.raises(KeylessRecords) as by_python:
        check_keys(batch)
    assert by_kernel.value.reasons == by_python.value.reasons
    assert [reason.position for reason in by_kernel.value.reasons] == list(range(0, 2_000, 7))
    check_keys(batch_of(*[b""] * 2_000, codec=codec))


@needs_kernel
@pytest.mark.parametrize("damage", [0, 3, 4])
def test_the_kernel_refuses_records_that_lie(damage: int) -> None:
    batch = batch_of(*[b"key"] * 100)
    header = read_header(batch)
    records = bytearray(batch[HEADER_SIZE:])
    assert keyless(bytes(records), header, 10) == []
    records[damage] ^= 0x7F
    with pytest.raises(InvalidRecord):
        keyless(bytes(records), header, 10)
    with pytest.raises(InvalidRecord):
        keyless(bytes(records[:50]), header, 10)


def test_what_inflates_too_far_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "OPENED_BYTES_MAX", 1_000)
    with pytest.raises(DecompressionTooLarge):
        check_keys(batch_of(*[b"k"] * 2_000, codec=Codec.ZSTD))
