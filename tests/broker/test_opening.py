"""Opening batches out of the loop's way: in order, and with the same verdicts as at once."""

import asyncio
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

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
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


async def test_after_one_that_took_long_the_next_waits_and_keeps_its_place() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    took: list[float] = []
    told: list[str] = []
    rests_s = [0.01, 0.0, 0.0]

    def rest_s(took_s: float) -> float:
        took.append(took_s)
        return rests_s.pop(0)

    opening.rest_s = rest_s
    opening.open(batch_of(*[b"k"] * 10_000, codec=Codec.ZSTD), lambda _opened: told.append("long"))
    opening.open(batch_of(b"a"), lambda _opened: told.append("second"))
    syncer.run_next()
    assert (told, syncer.count) == (["long"], 0)
    assert opening.takes(batch_of(b"a")), "it would overtake the one that waits"
    opening.open(batch_of(b"a"), lambda _opened: told.append("third"))
    assert syncer.count == 0

    await rested(syncer)
    syncer.run_next()
    syncer.run_next()
    assert told == ["long", "second", "third"]
    assert took[0] > 0
    assert not opening.is_busy


async def test_who_comes_while_it_rests_is_opened_when_that_is_over() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    told: list[Opened] = []
    opening.rest_s = lambda _took_s: 0.01
    opening.open(batch_of(b"a"), told.append)
    syncer.run_next()
    assert not opening.is_busy
    assert not opening.takes(batch_of(b"a"))
    opening.open(batch_of(b"b", codec=Codec.ZSTD), told.append)
    assert syncer.count == 0
    await rested(syncer)
    opening.rest_s = lambda _took_s: 0.001
    syncer.run_next()
    await asyncio.sleep(0.05)
    opening.open(batch_of(b"c"), told.append)
    assert syncer.count == 1
    syncer.run_next()
    assert told == [Opened(None)] * 3


async def test_nothing_begins_after_the_end() -> None:
    syncer = HeldSyncer()
    opening = Opening(syncer)
    opening.rest_s = lambda _took_s: 0.001
    opening.open(batch_of(b"a"), lambda _opened: None)
    opening.open(batch_of(b"b"), lambda _opened: None)
    syncer.run_next()
    opening.close()
    await asyncio.sleep(0.01)
    assert syncer.count == 0


async def rested(syncer: HeldSyncer) -> None:
    async with asyncio.timeout(10):
        while not syncer.count:
            await asyncio.sleep(0.001)


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


@needs_kernel
def test_the_kernel_reads_many_records_and_their_headers_to_the_end() -> None:
    records = [
        Record(n, NOW_MS, b"k" if n % 9_999 else None, b"v" * (n % 5), (("name", b"h"),) * (n % 3))
        for n in range(30_000)
    ]
    batch = build_batch(records)
    header = read_header(batch)
    assert keyless(batch[HEADER_SIZE:], header, 10) == [0, 9_999, 19_998, 29_997]
    assert keyless(batch[HEADER_SIZE:], header, 2) == [0, 9_999]
    with pytest.raises(InvalidRecord):
        keyless(batch[HEADER_SIZE:] + b"\0", header, 2)
    with pytest.raises(InvalidRecord):
        keyless(batch[HEADER_SIZE:-1], header, 2)


def test_what_inflates_too_far_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "OPENED_BYTES_MAX", 1_000)
    with pytest.raises(DecompressionTooLarge):
        check_keys(batch_of(*[b"k"] * 2_000, codec=Codec.ZSTD))
