"""DescribeCluster: who serves, and what clients may do."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_cluster import DescribeClusterRequest
from tests.kafka.serving import serving

EVERYTHING = 8096
NOT_ASKED = -(2**31)


@pytest.mark.parametrize("version", range(3))
async def test_every_version_tells_of_the_one_broker(version: int) -> None:
    async with serving() as running:
        request = DescribeClusterRequest(include_cluster_authorized_operations=False)
        response = await running.ask(request, version)
        address, cluster_id = running.listener.address, running.broker.cluster_id
    assert (response.error_code, response.error_message) == (0, None)
    assert response.cluster_id == cluster_id
    assert response.controller_id == 1
    assert response.endpoint_type == 1
    (broker,) = response.brokers
    assert (broker.broker_id, broker.host, broker.port) == (1, address.host, address.port)
    assert (broker.rack, broker.is_fenced) == (None, False)
    assert response.cluster_authorized_operations == NOT_ASKED


async def test_everything_is_allowed_to_those_who_ask() -> None:
    async with serving() as running:
        request = DescribeClusterRequest(include_cluster_authorized_operations=True)
        response = await running.ask(request, 2)
    assert response.cluster_authorized_operations == EVERYTHING


@pytest.mark.parametrize(
    ("endpoint_type", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (0, 115), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
async def test_who_wants_another_kind_of_node_is_told(endpoint_type: int, code: int) -> None:
    async with serving() as running:
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=False, endpoint_type=endpoint_type
        )
        response = await running.ask(request, 1)
    assert response.error_code == code
    assert "type" in (response.error_message or "")
    assert (response.cluster_id, list(response.brokers)) == ("", [])
