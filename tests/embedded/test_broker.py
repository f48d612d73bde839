"""A broker inside the process that uses it: `with riverlog.Broker() as broker`."""

import asyncio
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import riverlog
from riverlog.broker.errors import InvalidConfig
from riverlog.cluster.topics import TopicExists
from riverlog.config import InvalidAddress
from riverlog.embedded.broker import NotRunning
from riverlog.kafka.listener import CannotListen
from riverlog.settings.sources import InvalidSetting
from riverlog.stores.data_directory import NotADataDirectory
from riverlog.stores.directory_lock import AlreadyInUse
from tests.embedded.talking import TOPIC, is_listening, partition_counts, produce, values


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Checks that the block leaves no thread and no open file behind."""
    threads, files = set(threading.enumerate()), _open_files()
    yield
    assert set(threading.enumerate()) == threads
    assert _open_files() == files


def _open_files() -> list[str]:
    names = []
    for number in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            continue  # The directory that was read to find it.
    return sorted(names)


def connecting(broker: riverlog.Broker) -> socket.socket:
    return socket.create_connection(broker.address, timeout=5)


def test_a_broker_keeps_what_it_is_given_and_leaves_nothing_behind() -> None:
    with leaving_nothing():
        with riverlog.Broker() as broker:
            broker.create_topic(TOPIC, 1)
            assert produce(broker.address, b"first").base_offset == 0
            assert produce(broker.address, b"second").base_offset == 1
            assert values(broker.address) == [b"first", b"second"]
            address = broker.address
        assert not is_listening(address)


def test_a_broker_in_a_directory_leaves_only_that(tmp_path: Path) -> None:
    with leaving_nothing(), riverlog.Broker(data=tmp_path / "data", topics={TOPIC: 1}) as broker:
        produce(broker.address, b"kept")
    with riverlog.Broker(data=str(tmp_path / "data"), topics={TOPIC: 1}) as broker:
        assert values(broker.address) == [b"kept"]


def test_bootstrap_is_the_address_in_writing() -> None:
    with riverlog.Broker() as broker:
        assert broker.bootstrap == f"127.0.0.1:{broker.address.port}"
    with pytest.raises(NotRunning):
        _ = broker.bootstrap


def test_several_brokers_do_not_know_each_other() -> None:
    with riverlog.Broker(topics={TOPIC: 1}) as one, riverlog.Broker(topics={TOPIC: 1}) as other:
        produce(one.address, b"here")
        assert values(one.address) == [b"here"]
        assert values(other.address) == []


def test_topics_have_the_partitions_they_were_given() -> None:
    with riverlog.Broker(topics={"a": 2}, num_partitions=7) as broker:
        broker.create_topic("b", 3)
        broker.create_topic("c")
        assert partition_counts(broker.address, "a", "b", "c") == {"a": 2, "b": 3, "c": 7}


def test_what_is_wrong_with_a_topic_is_raised_to_who_asked_for_it() -> None:
    with riverlog.Broker(topics={"a": 1}) as broker:
        with pytest.raises(TopicExists):
            broker.create_topic("a")
        with pytest.raises(InvalidConfig):
            broker.create_topic("b", configs={"segment.bytes": "many"})


def test_settings_are_the_flags_of_serve_as_keywords() -> None:
    with riverlog.Broker(topics={TOPIC: 1}, message_max_bytes=100) as broker:
        assert produce(broker.address, b"x" * 200).error_code == 10
        assert produce(broker.address, b"x").error_code == 0


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"num_partition": 3}, "did you mean num_partitions"),
        ({"num_partitions": 0}, "num-partitions"),
        ({"num_partitions": "many"}, "num-partitions"),
        ({"auto_create_topics": 3}, "auto-create-topics"),
    ],
)
def test_a_setting_that_cannot_be_is_named(keywords: dict[str, int | str], told: str) -> None:
    with pytest.raises(InvalidSetting, match=told):
        riverlog.Broker(**keywords)  # type: ignore[arg-type]  # none of them is `data` or `topics`


def test_an_address_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidAddress):
        riverlog.Broker(listen="nowhere")


def test_the_caller_learns_why_it_could_not_start(tmp_path: Path) -> None:
    (tmp_path / "something").write_text("else")
    with leaving_nothing():
        with pytest.raises(NotADataDirectory):
            riverlog.Broker(data=tmp_path).start()
        with riverlog.Broker(data=tmp_path / "data") as broker:
            with pytest.raises(AlreadyInUse):
                riverlog.Broker(data=tmp_path / "data").start()
            with pytest.raises(CannotListen):
                riverlog.Broker(listen=broker.bootstrap).start()
            assert is_listening(broker.address)


def test_a_restart_keeps_the_port_and_the_data() -> None:
    with leaving_nothing(), riverlog.Broker(topics={TOPIC: 1}) as broker:
        produce(broker.address, b"before")
        address = broker.address
        broker.restart()
        assert broker.address == address
        produce(broker.address, b"after")
        assert values(broker.address) == [b"before", b"after"]


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_a_crash_ends_it_at_once_and_loses_nothing_that_was_acknowledged(
    tmp_path: Path, is_in_memory: bool
) -> None:
    data = None if is_in_memory else tmp_path / "data"
    with leaving_nothing(), riverlog.Broker(data=data, topics={TOPIC: 1}) as broker:
        produce(broker.address, b"before")
        epoch = broker.running.leader_epoch
        for _ in range(3):
            broker.crash()
            assert not broker.is_running
            assert not is_listening(broker.address)
            broker.start()
        assert broker.running.leader_epoch == epoch + 3
        assert values(broker.address) == [b"before"]
        assert produce(broker.address, b"after").base_offset == 1


@pytest.mark.skipif(sys.platform != "linux", reason="ports are held on Linux only")
def test_its_port_stays_its_own_while_it_is_down() -> None:
    with riverlog.Broker() as broker, socket.socket() as other:
        broker.crash()
        with pytest.raises(OSError, match="in use"):
            other.bind(broker.address)
        broker.start()
        assert is_listening(broker.address)


def test_nothing_is_written_after_a_crash(tmp_path: Path) -> None:
    with riverlog.Broker(data=tmp_path, topics={TOPIC: 1}) as broker:
        produce(broker.address, b"before")
        broker.crash()
        # A clean stop would have left a mark of it, or cut the zeros that are filled ahead.
        before = {path: path.stat() for path in tmp_path.rglob("*")}
        assert any(stat.st_size > 1000 for stat in before.values())
    assert {path: path.stat() for path in tmp_path.rglob("*")} == before


def test_connections_break_in_a_crash() -> None:
    with riverlog.Broker() as broker, connecting(broker) as connection:
        broker.advance(0)  # It has accepted when this is done.
        broker.crash()
        assert connection.recv(1) == b""


def test_a_broker_that_is_down_says_so() -> None:
    broker = riverlog.Broker()
    with pytest.raises(NotRunning):
        broker.create_topic(TOPIC)
    with broker:
        broker.crash()
        with pytest.raises(NotRunning):
            broker.crash()
        with pytest.raises(NotRunning):
            broker.advance(1)


def test_a_stopped_broker_can_be_started_again_with_its_data() -> None:
    broker = riverlog.Broker(topics={TOPIC: 1})
    with broker:
        produce(broker.address, b"kept")
    with broker:
        assert values(broker.address) == [b"kept"]


async def test_async_with_leaves_the_loop_free_and_nothing_behind() -> None:
    with leaving_nothing():
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        async with riverlog.Broker(topics={TOPIC: 1}) as broker:
            assert turns > 1
            produce(broker.address, b"kept")
            assert values(broker.address) == [b"kept"]
        turning.cancel()


async def test_a_cancelled_start_leaves_nothing_behind() -> None:
    with leaving_nothing():
        starting = asyncio.create_task(riverlog.Broker().__aenter__())
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting


async def test_async_with_raises_why_it_could_not_start(tmp_path: Path) -> None:
    (tmp_path / "something").write_text("else")
    with leaving_nothing(), pytest.raises(NotADataDirectory):
        async with riverlog.Broker(data=tmp_path):
            pass


def test_a_forked_process_uses_the_broker_and_keeps_nothing_of_it(tmp_path: Path) -> None:
    with riverlog.Broker(data=tmp_path, topics={TOPIC: 1}) as broker, connecting(broker) as idle:
        broker.advance(0)
        awaited, held = os.pipe()
        child = _forked()
        if child == 0:
            is_well = False
            try:
                os.close(held)
                is_well = not broker.is_running
                is_well &= produce(broker.address, b"from the child").error_code == 0
                broker.stop()
                os.read(awaited, 1)  # Until the parent closes its end.
            finally:
                os._exit(0 if is_well else 1)
        os.close(awaited)
        try:
            while values(broker.address) != [b"from the child"]:
                time.sleep(0.01)
            broker.crash()
            assert not is_listening(broker.address)
            assert idle.recv(1) == b""
            broker.start()
            assert values(broker.address) == [b"from the child"]
        finally:
            os.close(held)
            _, status = os.waitpid(child, 0)
    assert status == 0


def _forked() -> int:
    with warnings.catch_warnings():
        # Newer versions of Python warn of threads, which are the point here.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()
