"""The journal in real processes: what is written to several partitions at once rests on it."""

import time
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
from tests.crash_real.strace import WRITES, is_permitted, killing, traced
from tests.crash_real.waiting import is_dead, wait_until
from tests.crash_real.wire import Wire, records_of, wired

NAMES = f"{WRITES},fdatasync,fsync,sendto,sendmsg,write,writev"
FEW = {"orders": 3}
# So many that nine rounds fill a file of the journal, each part small enough to go there.
MANY = {"orders": 40}
PAYLOAD = bytes(range(256)) * 80
KILLS = 4
SIZE_KIB = 32 * 1024
ROOM_KIB = 2 * 1024
REFUSALS = 10


def journal_files(broker: BrokerProcess) -> list[Path]:
    return sorted((broker.data / "journal").glob("*.journal"))


def write_to_all(
    wire: Wire, numbers: Iterator[int], partitions: int, payload: bytes
) -> set[ErrorCode]:
    """A record to every partition in one request; gives how that ended, for all of them."""
    number = next(numbers)
    records = {index: [(f"record {number} to {index}", payload)] for index in range(partitions)}
    return {produced.error for produced in wire.produce_each("orders", records).values()}


def lean_on_the_journal(
    broker: BrokerProcess, wire: Wire, numbers: Iterator[int], count: int
) -> None:
    """All partitions are there, and so is the first file of the journal."""
    wire.create_topic("orders", count)
    for _ in range(2):
        assert write_to_all(wire, numbers, count, b"first") == {ErrorCode.NONE}
    wait_until(lambda: bool(journal_files(broker)) and _is_ready(journal_files(broker)[0]))


def _is_ready(file: Path) -> bool:
    """Whether the file is whole; a moment later its broker knows that, too."""
    if file.stat().st_size < 8 << 20:
        return False
    time.sleep(0.1)
    return True


def test_the_sync_of_the_journal_precedes_the_reply_and_segments_need_none(
    broker: BrokerProcess,
) -> None:
    numbers = count(1)
    with wired(broker) as wire:
        lean_on_the_journal(broker, wire, numbers, FEW["orders"])
        with traced(broker, NAMES) as trace:
            codes = write_to_all(wire, numbers, FEW["orders"], b"payload")
            wait_until(lambda: any(call.is_to_client for call in trace.calls()))
            calls = trace.calls()

    assert codes == {ErrorCode.NONE}
    (journal,) = journal_files(broker)
    (reply,) = [call for call in calls if call.is_to_client]
    (frame,) = [c for c in calls if c.path == str(journal) and c.name in WRITES.split(",")]
    (synced,) = [c for c in calls if c.path == str(journal) and c.name == "fdatasync"]
    segments = [c for c in calls if c.path.endswith(".log") and c.name in WRITES.split(",")]
    assert len({call.path for call in segments}) == FEW["orders"]
    assert frame.precedes(synced)
    assert synced.precedes(reply)
    assert synced.result == 0
    assert all(call.precedes(reply) for call in segments)
    assert not [c for c in calls if c.path.endswith(".log") and c.name == "fdatasync"]


def test_a_broker_killed_with_all_in_the_journal_serves_it(
    broker: BrokerProcess, history: History
) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        lean_on_the_journal(broker, wire, numbers, FEW["orders"])
        for _ in range(10):
            assert write_to_all(wire, numbers, FEW["orders"], b"payload") == {ErrorCode.NONE}
    read_back_after_death(broker, history, FEW)
    assert complaints(history) == []
    assert journal_files(broker) == []
    assert "damage" not in broker.stderr


def test_a_broker_killed_while_it_catches_up_loses_nothing(
    broker: BrokerProcess, history: History
) -> None:
    numbers, chance = count(1), Random(time.time_ns())
    with wired(broker, history) as wire:
        lean_on_the_journal(broker, wire, numbers, MANY["orders"])
    for kill in range(KILLS):
        with wired(broker, history) as wire:
            if is_permitted():
                # The loop syncs once a round, and a file is full after about ten of them; then
                # one thread syncs all segments. Calls are counted for each thread.
                with killing(broker, "fdatasync", chance.randint(8, 26)):
                    _write_until_death(wire, numbers)
                    wait_until(lambda: is_dead(broker.pid), lambda: "the broker lives on")
            else:
                for _ in range(9 + kill):
                    write_to_all(wire, numbers, MANY["orders"], PAYLOAD)
        broker.kill()
        broker.start()
    read_back_after_death(broker, history, MANY)
    assert complaints(history) == []
    assert journal_files(broker) == []


def _write_until_death(wire: Wire, numbers: Iterator[int]) -> None:
    for _ in range(200):
        try:
            write_to_all(wire, numbers, MANY["orders"], PAYLOAD)
        except (AssertionError, OSError):
            return  # The connection has ended, and with it the broker.


def test_a_stop_leaves_no_file_of_the_journal(broker: BrokerProcess, history: History) -> None:
    numbers = count(1)
    with wired(broker, history) as wire:
        lean_on_the_journal(broker, wire, numbers, MANY["orders"])
        for _ in range(14):
            assert write_to_all(wire, numbers, MANY["orders"], PAYLOAD) == {ErrorCode.NONE}
    assert journal_files(broker)

    broker.terminate()

    assert list((broker.data / "journal").iterdir()) == []
    broker.start()
    read_back_after_death(broker, history, MANY)
    assert complaints(history) == []


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_a_full_disk_with_a_journal_refuses_writes_serves_reads_and_recovers(
    kind: str, tmp_path: Path, history: History
) -> None:
    numbers = count(1)
    with mounted(kind, tmp_path, SIZE_KIB) as disk:
        broker = BrokerProcess(tmp_path)
        broker.data = disk / "data"
        broker.start()
        try:
            with wired(broker, history) as wire:
                lean_on_the_journal(broker, wire, numbers, FEW["orders"])
                fill(disk / "filler", room_kib=ROOM_KIB)
                _write_until_refused(wire, numbers)
                served = _count(wire)
                assert served > 10
            fill(disk / "rest")
            broker.kill()
            broker.start()
            with wired(broker, history) as wire:
                assert _count(wire) >= served
                (disk / "rest").unlink()
                (disk / "filler").unlink()
                for _ in range(20):
                    codes = write_to_all(wire, numbers, FEW["orders"], PAYLOAD)
                    assert codes == {ErrorCode.NONE}
                assert _count(wire) > served
            read_back_after_death(broker, history, FEW)
            assert complaints(history) == []
            broker.end()
        finally:
            broker.kill()


def _write_until_refused(wire: Wire, numbers: Iterator[int]) -> None:
    refused = 0
    while refused < REFUSALS:
        codes = write_to_all(wire, numbers, FEW["orders"], PAYLOAD)
        assert codes <= {ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR}
        refused += codes == {ErrorCode.KAFKA_STORAGE_ERROR}


def _count(wire: Wire) -> int:
    return sum(len(records_of(wire.read("orders", index))) for index in range(FEW["orders"]))
