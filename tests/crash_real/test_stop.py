"""Told to stop: what was asked is answered, everything is at rest, and the next start is quick."""

import os
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import connected
from tests.crash_real.judgement import complaints, each, end_offsets, read_back_after_death
from tests.crash_real.load import Load
from tests.crash_real.waiting import wait_until
from tests.crash_real.wire import FETCH_BY_NAME, wired

STOPS = 3
PARTITIONS = {"orders": 2, "payments": 1}
LONG_POLL_MS = 30_000
END_S_MAX = 5


def test_a_stop_under_load_loses_nothing_and_leaves_nothing_to_scan(
    broker: BrokerProcess, tmp_path: Path
) -> None:
    with wired(broker) as wire:
        wire.create_topic("orders", PARTITIONS["orders"])
        wire.create_topic("payments", PARTITIONS["payments"])
    load = Load(broker.bootstrap, PARTITIONS, "stops")
    load.start()
    try:
        for number in range(STOPS):
            load.wait_for_progress(50)
            broker.terminate()
            shutil.copytree(broker.data, tmp_path / f"copy-{number}" / "data")
            broker.start()
        load.stop_producing()
        load.stop(end_offsets(read_back_after_death(broker, load.history, PARTITIONS)))
    finally:
        load.abandon()

    assert complaints(load.history) == []
    assert load.unexpected == []
    assert "damage" not in broker.stderr
    for number in range(STOPS):
        _assert_nothing_to_scan(tmp_path / f"copy-{number}")


def test_a_broker_that_died_has_something_to_scan(broker: BrokerProcess, tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    with wired(broker) as wire:
        wire.create_topic("orders", PARTITIONS["orders"])
        wire.create_topic("payments", PARTITIONS["payments"])
        wire.produce("orders", ("record", b"payload"))
    broker.kill()
    shutil.copytree(broker.data, tmp_path / "copy" / "data")
    broker.start()

    with pytest.raises(AssertionError, match="written to"):
        _assert_nothing_to_scan(tmp_path / "copy")


def test_a_stop_ends_a_long_poll_with_an_answer(broker: BrokerProcess) -> None:
    answers: list[PartitionData] = []
    with wired(broker) as waiting, wired(broker) as wire:
        wire.create_topic("orders")
        wire.produce("orders", ("record", b"payload"))

        def poll() -> None:
            answers.append(waiting.fetch("orders", 1, wait_ms=LONG_POLL_MS))

        polling = threading.Thread(target=poll, daemon=True)
        polling.start()
        for _ in range(10):  # By the end of these the poll has long been read.
            wire.describe("orders")
            time.sleep(0.01)
        assert not answers

        broker.terminate()
        polling.join(END_S_MAX)

    assert [(answer.error_code, bytes(answer.records or b"")) for answer in answers] == [
        (ErrorCode.NONE, b"")
    ]


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once_and_costs_nothing(
    broker: BrokerProcess, history: History, first: signal.Signals, second: signal.Signals
) -> None:
    with connected(broker) as stuck, wired(broker, history) as wire:
        wire.create_topic("orders")
        for number in range(4):
            assert wire.produce("orders", (f"{number}", bytes(900_000))).is_acknowledged
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=4 << 20)
        topics = [FetchTopic(topic="orders", partitions=[wanted])]
        request = FetchRequest(max_wait_ms=0, min_bytes=1, topics=topics)
        frame = b"".join(request_frame(request, FETCH_BY_NAME, 1, "never reads"))[4:]
        for _ in range(8):
            stuck.send(frame)
        wire.describe("orders")

        # A client that does not take its answers is waited for, for a while.
        os.kill(broker.pid, first)
        wait_until(lambda: _is_shut(broker), lambda: "the door is not shut")
        os.kill(broker.pid, second)
        wait_until(lambda: _end_of(broker) is not None, lambda: "the broker does not end")

        assert _end_of(broker) == (os.CLD_KILLED, second)
    assert "stopped" not in broker.stderr
    read_back_after_death(broker, history, {"orders": 1})
    assert complaints(history) == []


def _assert_nothing_to_scan(directory: Path) -> None:
    """Starts a broker there and reads all; recovery would write again what it had to scan."""
    times = {path: path.stat().st_mtime_ns for path in (directory / "data").glob("topics/*/*/*")}
    assert times
    broker = BrokerProcess(directory)
    broker.start()
    try:
        with wired(broker) as wire:
            for topic, index in each(PARTITIONS):
                wire.read(topic, index)
        found = (directory / "data").glob("topics/*/*/*")
        changed = [path.name for path in found if times.get(path) != path.stat().st_mtime_ns]
        assert not changed, f"written to: {changed}"
        broker.end()
    finally:
        broker.kill()


def _is_shut(broker: BrokerProcess) -> bool:
    try:
        socket.create_connection((broker.host, broker.port)).close()
    except ConnectionRefusedError:
        return True
    return False


def _end_of(broker: BrokerProcess) -> tuple[int, int] | None:
    """How the process ended, if it has; it is left for `kill` to reap."""
    ended = os.waitid(os.P_PID, broker.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None if ended is None else (ended.si_code, ended.si_status)
