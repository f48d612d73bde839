"""A disk that is really full refuses writes, serves every read, and goes on when there is room."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.judgement import complaints, read_back_after_death
from tests.crash_real.small_disk import fill, mounted
from tests.crash_real.torn import tear_tails
from tests.crash_real.wire import Wire, records_of, wired

ORDERS = {"orders": 2}
SIZE_KIB = 24 * 1024
ROOM_KIB = 2 * 1024
PAYLOAD = bytes(range(256)) * 80
REFUSALS = 20


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with mounted(request.param, tmp_path, SIZE_KIB) as place:
        yield place


@pytest.fixture
def broker(disk: Path, tmp_path: Path) -> Iterator[BrokerProcess]:
    """A broker whose data are on the small disk, and whose log is not."""
    process = BrokerProcess(tmp_path)
    process.data = disk / "data"
    process.start()
    try:
        yield process
        process.end()
    finally:
        process.kill()


def test_a_full_disk_refuses_writes_serves_reads_and_recovers_without_a_restart(
    broker: BrokerProcess, disk: Path, history: History
) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        wire.create_topic("orders", ORDERS["orders"])
        fill(disk / "filler", room_kib=ROOM_KIB)
        acknowledged = _write_until_refused(wire, numbers)
        assert acknowledged > ROOM_KIB * 1024 // len(PAYLOAD) // 2
        for _ in range(REFUSALS):
            assert _write(wire, numbers) == ErrorCode.KAFKA_STORAGE_ERROR
        assert _count(wire) == acknowledged

        (disk / "filler").unlink()
        assert _write(wire, numbers) == ErrorCode.NONE
        assert _write_until_refused(wire, numbers) > 0, "there is room again, until there is not"
        assert _count(wire) > acknowledged

    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def test_a_broker_killed_on_a_full_disk_starts_and_serves_reads(
    broker: BrokerProcess, disk: Path, history: History
) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        wire.create_topic("orders", ORDERS["orders"])
        fill(disk / "filler", room_kib=ROOM_KIB)
        acknowledged = _write_until_refused(wire, numbers)
    fill(disk / "rest")

    for _ in range(3):
        broker.kill()
        broker.start()
        with wired(broker) as wire:
            assert _count(wire) == acknowledged
    (disk / "rest").unlink()
    (disk / "filler").unlink()
    with wired(broker, history) as wire:
        assert _write(wire, numbers) == ErrorCode.NONE
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def test_a_torn_write_on_a_full_disk_costs_nothing_once_there_is_room(
    broker: BrokerProcess, disk: Path, history: History
) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        wire.create_topic("orders", ORDERS["orders"])
        fill(disk / "filler", room_kib=ROOM_KIB)
        acknowledged = _write_until_refused(wire, numbers)
    broker.kill()
    assert tear_tails(broker.data / "topics", Random(0)) == 2
    fill(disk / "rest")

    broker.start()
    with wired(broker, history) as wire:
        wire.fetch("orders", 0)
        (disk / "rest").unlink()
        (disk / "filler").unlink()
        assert _count(wire) == acknowledged
        assert _write(wire, numbers) == ErrorCode.NONE
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def test_a_topic_cannot_be_made_on_a_full_disk_and_can_be_made_later(
    broker: BrokerProcess, disk: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        wire.create_topic("orders", ORDERS["orders"])
        fill(disk / "filler")
        # Facts have some room of their own; it does not last for ever.
        names = (f"topic-{number}" for number in count(1))
        codes = {}
        for name in names:
            codes[name], _ = wire.try_to_create(name)
            if codes[name] != ErrorCode.NONE:
                break
        (disk / "filler").unlink()
        refused = [name for name, code in codes.items() if code != ErrorCode.NONE]

        assert [codes[name] for name in refused] == [ErrorCode.KAFKA_STORAGE_ERROR]
        assert wire.describe(refused[0]).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert wire.try_to_create(refused[0])[0] == ErrorCode.NONE

    broker.kill()
    broker.start()
    with wired(broker) as wire:
        assert all(wire.describe(name).error_code == ErrorCode.NONE for name in codes)


def test_a_broker_on_a_full_disk_stops_when_told_to(
    broker: BrokerProcess, disk: Path, history: History
) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        wire.create_topic("orders", ORDERS["orders"])
        fill(disk / "filler", room_kib=ROOM_KIB)
        _write_until_refused(wire, numbers)
    fill(disk / "rest")

    broker.terminate()

    broker.start()
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def _write(wire: Wire, numbers: Iterator[int]) -> ErrorCode:
    number = next(numbers)
    return wire.produce("orders", (f"record {number}", PAYLOAD), partition=number % 2).error


def _write_until_refused(wire: Wire, numbers: Iterator[int]) -> int:
    """Fills both partitions; gives how many records were acknowledged."""
    acknowledged, refused = 0, 0
    while refused < REFUSALS:
        code = _write(wire, numbers)
        assert code in (ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR)
        if code == ErrorCode.NONE:
            acknowledged += 1
        else:
            refused += 1
    return acknowledged


def _count(wire: Wire) -> int:
    return sum(len(records_of(wire.read("orders", index))) for index in (0, 1))
