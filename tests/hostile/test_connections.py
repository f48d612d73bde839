"""Connections: too many, too quick, silent, or never reading what they asked for."""

import resource
import sys
import time
from pathlib import Path

import pytest

from riverlog.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected
from tests.crash_real.wire import wired
from tests.hostile.scene import Scene, frame_of, running, wait_for

IDLE = 1_000
CONNECTS = 500
FEW = 5
IDLE_MS = 1_500
FILES_MAX = 800
ALL_TOPICS = MetadataRequest(topics=None)


def is_served(broker: BrokerProcess) -> bool:
    with connected(broker) as connection:
        return bool(connection.ask(ALL_TOPICS, 9, MetadataResponse).brokers)


def test_a_thousand_idle_connections_cost_little(scene: Scene) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * IDLE)), hard))
    with scene.attack() as bystander:
        for _ in range(IDLE):
            scene.connect()
        bystander.wait_for_more(50)


def test_five_hundred_connections_in_a_row_leave_nothing_behind(scene: Scene) -> None:
    with scene.attack() as bystander:
        for number in range(CONNECTS):
            client = scene.connect()
            if number % 2:
                client.reset()
            else:
                client.close()
        bystander.wait_for_more()


def test_a_client_that_never_reads_is_not_read_from(scene: Scene) -> None:
    with scene.attack() as bystander:
        scene.connect().write_until_refused(frame_of(ALL_TOPICS, 9) * 1_000)
        bystander.wait_for_more()


def test_silent_clients_are_closed_in_the_end_whatever_they_left_undone(tmp_path: Path) -> None:
    with running(BrokerProcess(tmp_path, "--connections-max-idle-ms", str(IDLE_MS))) as broker:
        scene = Scene(broker)
        before = scene.sockets()
        silent, within_a_frame, not_reading = (RawConnection(broker) for _ in range(3))
        within_a_frame.write(frame_of(ALL_TOPICS, 9)[:-1])
        not_reading.write_until_refused(frame_of(ALL_TOPICS, 9) * 1_000)
        # Seen from the broker: reading now would let it end of itself.
        wait_for(lambda: scene.sockets() == before)
        for client in (silent, within_a_frame, not_reading):
            assert client.is_cut_off()
            client.close()
        assert is_served(broker)


@pytest.mark.parametrize("flag", ["--max-connections", "--max-connections-per-ip"])
def test_a_connection_too_many_is_closed_and_room_comes_back(tmp_path: Path, flag: str) -> None:
    with running(BrokerProcess(tmp_path, flag, str(FEW))) as broker:
        clients = [RawConnection(broker) for _ in range(FEW)]
        for client in clients:
            assert client.ask(ALL_TOPICS, 9, MetadataResponse).brokers
        for _ in range(100):
            with connected(broker) as one_too_many:
                assert one_too_many.is_cut_off()
        assert broker.stderr.count("connection refused") <= 10
        clients.pop().close()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            with connected(broker) as late:
                if not late_is_refused(late):
                    break
        else:
            pytest.fail("there is no room, though one has left")
        for client in clients:
            assert client.ask(ALL_TOPICS, 9, MetadataResponse).brokers
            client.close()


def late_is_refused(client: RawConnection) -> bool:
    try:
        client.write(frame_of(ALL_TOPICS, 9))
        return client.receive() is None
    except ConnectionError:
        return True


def test_connections_never_take_the_files_that_the_log_needs(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path)
    limited = f'ulimit -n {FILES_MAX} && exec "$@"'
    broker.program = ("sh", "-c", limited, "sh", sys.executable, "-m", "riverlog")
    with running(broker):
        with wired(broker) as wire:
            wire.create_topic("first")
            clients = [RawConnection(broker) for _ in range(FILES_MAX)]
            wire.create_topic("second", partition_count=20)
            for partition in range(20):
                assert wire.produce("second", ("id", b"value"), partition=partition).is_acknowledged
            for client in clients:
                client.close()
        assert is_served(broker)
