"""Frames that lie about their length, that never end, or that are of another protocol."""

import struct

import pytest

from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.hostile.scene import Scene, frame_of, wait_for

LORISES = 50
STARTED_BYTES = 1 << 20
PRODUCE_V9 = b"\x00\x00\x00\x09"
VERSIONS = ApiVersionsRequest(client_software_name="hostile", client_software_version="1")


def declared(length: int) -> bytes:
    return struct.pack(">i", length)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(declared(0), id="0"),
        pytest.param(declared(-1), id="minus 1"),
        pytest.param(declared(2**31 - 1), id="2 GiB"),
        pytest.param(declared((100 << 20) + 1), id="100 MiB and 1"),
        pytest.param(b"GET /topics HTTP/1.1\r\nHost: localhost\r\n\r\n", id="HTTP"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), id="TLS"),
    ],
)
def test_a_length_out_of_bounds_and_another_protocol_close_the_connection(
    scene: Scene, start: bytes
) -> None:
    with scene.attack():
        client = scene.connect()
        client.write(start)
        assert client.is_cut_off()


def test_a_length_shorter_than_the_message_closes_the_connection(scene: Scene) -> None:
    frame = frame_of(VERSIONS, 3)
    with scene.attack():
        client = scene.connect()
        client.write(declared(len(frame) - 4 - 3) + frame[4:])
        assert client.is_cut_off()


def test_a_length_longer_than_the_message_is_answered_once_all_of_it_is_there(scene: Scene) -> None:
    frame = frame_of(VERSIONS, 3)
    with scene.attack():
        client = scene.connect()
        client.write(declared(len(frame) - 4 + 100) + frame[4:])
        client.write(bytes(100))
        assert client.receive() is not None
        assert client.ask(VERSIONS, 3, ApiVersionsResponse).error_code == 0


def test_requests_that_come_byte_by_byte_are_held_cheaply_and_answered(scene: Scene) -> None:
    frame = frame_of(VERSIONS, 3)
    with scene.attack() as bystander:
        clients = [scene.connect() for _ in range(LORISES)]
        for at in range(len(frame) - 1):
            for client in clients:
                client.write(frame[at : at + 1])
        bystander.wait_for_more()
        for client in clients:
            client.write(frame[-1:])
            assert client.receive() is not None


def test_requests_that_are_never_finished_cost_what_was_sent_of_them(scene: Scene) -> None:
    with scene.attack() as bystander:
        before = scene.sockets()
        for _ in range(5):
            clients = [scene.connect() for _ in range(20)]
            for client in clients:
                client.write(declared(100 << 20) + PRODUCE_V9 + bytes(STARTED_BYTES))
            bystander.wait_for_more()
            for client in clients:
                client.close()
            # What those held is free before others come.
            wait_for(lambda: scene.sockets() <= before)


def test_a_connection_that_breaks_within_a_frame_leaves_nothing_behind(scene: Scene) -> None:
    with scene.attack() as bystander:
        for sent_bytes in (1, 4, 9, 1000, STARTED_BYTES):
            client = scene.connect()
            client.write((declared(2 << 20) + PRODUCE_V9 + bytes(STARTED_BYTES))[:sent_bytes])
            client.reset()
        bystander.wait_for_more()
