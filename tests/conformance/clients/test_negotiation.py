"""What a client meets before it knows the broker: versions, and a closed door for the rest."""

import struct

import pytest

from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import connected

METADATA, API_VERSIONS = 3, 18
UNSUPPORTED_VERSION = 35


def test_a_version_from_the_future_is_answered_in_version_0_with_our_ranges(
    shared_broker: BrokerProcess,
) -> None:
    future = struct.pack(">hhih", API_VERSIONS, 99, 7, 3) + b"new" + bytes(30)

    with connected(shared_broker) as connection:
        connection.send(future)
        reply = connection.receive()
        connection.ask(ApiVersionsRequest(), 4, ApiVersionsResponse)

    assert reply is not None
    correlation_id, error_code, count = struct.unpack_from(">ihi", reply)
    ranges = {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", reply[10:])}
    assert (correlation_id, error_code, count) == (7, UNSUPPORTED_VERSION, len(ranges))
    assert ranges[API_VERSIONS] == (0, 4)
    assert ranges[METADATA] == (0, 13)


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_api_versions_tells_the_same_ranges(
    shared_broker: BrokerProcess, version: int
) -> None:
    request = ApiVersionsRequest(client_software_name="raw", client_software_version="1")

    with connected(shared_broker) as connection:
        oldest = connection.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        reply = connection.ask(request, version, ApiVersionsResponse)

    assert reply.error_code == 0
    assert [(api.api_key, api.min_version, api.max_version) for api in reply.api_keys] == [
        (api.api_key, api.min_version, api.max_version) for api in oldest.api_keys
    ]


@pytest.mark.parametrize(
    ("key", "version"),
    [
        pytest.param(9999, 0, id="an unknown API"),
        pytest.param(-1, 0, id="a negative API"),
        pytest.param(METADATA, 99, id="a version from the future"),
        pytest.param(METADATA, -1, id="a negative version"),
    ],
)
def test_what_is_not_served_closes_the_connection_and_no_other(
    shared_broker: BrokerProcess, key: int, version: int
) -> None:
    with connected(shared_broker) as bystander, connected(shared_broker) as connection:
        connection.send(struct.pack(">hhih", key, version, 7, -1) + bytes(30))

        assert connection.receive() is None
        cluster = bystander.ask(MetadataRequest(topics=[]), 1, MetadataResponse)

    assert [broker.node_id for broker in cluster.brokers] == [1]
