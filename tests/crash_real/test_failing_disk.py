"""The operating system refuses a call: the client is told, others go on, nothing is lost."""

import time
from pathlib import Path

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.judgement import complaints, end_offsets, read_back_after_death
from tests.crash_real.load import Load
from tests.crash_real.strace import WRITES, failing
from tests.crash_real.wire import Wire, records_of, wired

ORDERS = {"orders": 2}
FIRST_SEGMENT = "00000000000000000000.log"
SYNCS = "fdatasync,fsync"
FAILURES = 6
FAILURE_S = 0.2


@pytest.fixture
def partition(broker: BrokerProcess, history: History) -> Path:
    """Where `orders-0` lies; it and `orders-1` hold one record each."""
    with wired(broker, history) as wire:
        topic_id = wire.create_topic("orders", ORDERS["orders"])
        assert wire.produce("orders", ("early 0", b"payload")).base_offset == 0
        assert wire.produce("orders", ("early 1", b"payload"), partition=1).base_offset == 0
    return broker.data / "topics" / topic_id.hex() / "0"


def test_a_failed_sync_is_answered_and_the_log_goes_on_in_a_new_file(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        with failing(broker, "fdatasync", "EIO", partition / FIRST_SEGMENT):
            refused = wire.produce("orders", ("doubtful", b"payload"))
            seen = wire.fetch("orders", 0)
            elsewhere = wire.produce("orders", ("elsewhere", b"payload"), partition=1)
            # Of that file every sync fails still.
            after = wire.produce("orders", ("after", b"payload"))

        assert refused.error == ErrorCode.KAFKA_STORAGE_ERROR
        assert seen.high_watermark == 1, "what is not durable must not be seen"
        assert elsewhere.is_acknowledged
        assert after.is_acknowledged
        assert after.base_offset == 2, "the offset of the doubtful record was given away"
        assert _ids(wire) == ["early 0", "after"]
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []
    with wired(broker) as wire:
        assert _ids(wire) == ["early 0", "after"]


def test_a_failed_sync_of_a_directory_is_answered_and_made_up_for(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        topic_id = wire.create_topic("new")
        directory = broker.data / "topics" / topic_id.hex() / "0"
        with failing(broker, "fsync", "EIO", directory):
            refused = [wire.produce("new", (f"doubtful {n}", b"payload")) for n in range(3)]
            elsewhere = wire.produce("orders", ("elsewhere", b"payload"))
        after = wire.produce("new", ("after", b"payload"))

    assert {one.error for one in refused} == {ErrorCode.KAFKA_STORAGE_ERROR}
    assert elsewhere.is_acknowledged
    assert after.is_acknowledged
    read_back_after_death(broker, history, {**ORDERS, "new": 1})
    assert complaints(history) == []


def test_nothing_is_written_behind_a_seal_that_is_in_doubt(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        topic_id = wire.create_topic("rolling", segment_bytes="4096")
        directory = broker.data / "topics" / topic_id.hex() / "0"
        assert wire.produce("rolling", ("first", bytes(3000))).is_acknowledged
        with failing(broker, "fsync", "EIO", directory):
            refused = wire.produce("rolling", ("too large for what is left", bytes(3000)))
        small = wire.produce("rolling", ("small enough for what is left", b"payload"))

    assert refused.error == ErrorCode.KAFKA_STORAGE_ERROR
    assert small.is_acknowledged
    read_back_after_death(broker, history, {**ORDERS, "rolling": 1})
    assert complaints(history) == []


def test_a_topic_whose_fact_cannot_be_kept_is_refused_and_can_be_made_later(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        with failing(broker, "fdatasync", "EIO", broker.data / "metadata" / FIRST_SEGMENT):
            code, _ = wire.try_to_create("new")
            is_there = wire.describe("new").error_code == ErrorCode.NONE
            elsewhere = wire.produce("orders", ("elsewhere", b"payload"))
        topic_id = wire.create_topic("new")

    assert code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not is_there
    assert elsewhere.is_acknowledged
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []
    with wired(broker) as wire:
        assert wire.describe("new").topic_id == topic_id


def test_a_refused_write_is_answered_and_the_same_file_goes_on_when_there_is_room(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire:
        with failing(broker, WRITES, "ENOSPC", partition / FIRST_SEGMENT):
            refused = [wire.produce("orders", (f"refused {n}", b"payload")) for n in range(3)]
            seen = _ids(wire)
            elsewhere = wire.produce("orders", ("elsewhere", b"payload"), partition=1)
        after = wire.produce("orders", ("after", b"payload"))

        assert {one.error for one in refused} == {ErrorCode.KAFKA_STORAGE_ERROR}
        assert seen == ["early 0"]
        assert elsewhere.is_acknowledged
        assert after.is_acknowledged
        assert _ids(wire) == ["early 0", "after"]
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


@pytest.mark.parametrize(
    ("calls", "error"), [(WRITES, "ENOSPC"), (SYNCS, "EIO"), (f"{WRITES},{SYNCS}", "EIO")]
)
def test_a_disk_that_refuses_everything_serves_reads_and_recovers_without_a_restart(
    broker: BrokerProcess, partition: Path, history: History, calls: str, error: str
) -> None:
    with wired(broker, history) as wire:
        with failing(broker, calls, error):
            for number in range(3):
                for index in (0, 1):
                    record = (f"refused {number} {index}", b"payload")
                    refused = wire.produce("orders", record, partition=index)
                    assert refused.error == ErrorCode.KAFKA_STORAGE_ERROR
                assert wire.try_to_create("new")[0] == ErrorCode.KAFKA_STORAGE_ERROR
            assert _ids(wire) == ["early 0"]
            assert _ids(wire, 1) == ["early 1"]

        wire.create_topic("new")
        for index in (0, 1):
            assert wire.produce(
                "orders", (f"after {index}", b"payload"), partition=index
            ).is_acknowledged
        assert _ids(wire) == ["early 0", "after 0"]
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def test_a_failed_sync_forgotten_by_death_is_no_loss(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    with wired(broker, history) as wire, failing(broker, SYNCS, "EIO"):
        assert not wire.produce("orders", ("doubtful", b"payload")).is_acknowledged

    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []
    with wired(broker, history) as wire:
        assert wire.produce("orders", ("after", b"payload")).is_acknowledged
    read_back_after_death(broker, history, ORDERS)
    assert complaints(history) == []


def test_a_failed_read_is_answered_and_is_no_damage(
    broker: BrokerProcess, partition: Path, history: History
) -> None:
    broker.restart()
    with wired(broker, history) as wire:
        with failing(broker, "pread64", "EIO", partition / FIRST_SEGMENT):
            failed = wire.fetch("orders", 0)
            elsewhere = wire.fetch("orders", 0, 1)

        assert failed.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert not failed.records
        assert elsewhere.records
        assert _ids(wire) == ["early 0"]
    assert "damage" not in broker.stderr


@pytest.mark.parametrize(
    ("calls", "error"), [(WRITES, "ENOSPC"), (SYNCS, "EIO")], ids=["ENOSPC", "EIO"]
)
def test_producers_that_retry_get_through_a_disk_that_fails_for_a_while(
    broker: BrokerProcess, calls: str, error: str
) -> None:
    partitions = {"orders": 2, "rolling": 1}
    with wired(broker) as wire:
        wire.create_topic("orders", partitions["orders"])
        wire.create_topic("rolling", partitions["rolling"], segment_bytes="3000")
    load = Load(broker.bootstrap, partitions, error)
    load.start()
    try:
        for number in range(FAILURES):
            load.wait_for_progress(20)
            with failing(broker, calls, error):
                time.sleep(FAILURE_S)
                if number % 2:
                    broker.kill()
            if number % 2:
                broker.start()
        load.wait_for_progress(20)
        load.stop_producing()
        if calls == SYNCS:
            # Like a power cut, a failed sync takes what was acknowledged before it was synced.
            load.history.power_lost()
        logs = read_back_after_death(broker, load.history, partitions)
        load.stop(end_offsets(logs))
    finally:
        load.abandon()

    assert complaints(load.history) == []
    assert load.unexpected == []
    # A new epoch would have all that has no answer sent anew, even what is in a log.
    epochs = {batch.producer_epoch for batches in logs.values() for batch in batches}
    assert epochs <= {-1, 0}, "a producer was told of a gap that the broker had made"


def _ids(wire: Wire, partition: int = 0) -> list[str]:
    return [record.record_id for record in records_of(wire.read("orders", partition))]
