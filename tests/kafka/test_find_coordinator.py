"""FindCoordinator: there is one, and the topic that groups are kept in."""

import pytest

from riverlog.groups.settings import GroupSettings
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.find_coordinator import FindCoordinatorRequest
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import serving

GROUP, TRANSACTION, SHARE = 0, 1, 2
TOPIC = "__consumer_offsets"


@pytest.mark.parametrize("version", range(7))
async def test_every_version_finds_this_broker(version: int) -> None:
    request = FindCoordinatorRequest(key="a", coordinator_keys=["a", "b"])
    async with serving() as running:
        response = await running.ask(request, version)
        port = running.listener.address.port
        topic = running.broker.topic(TOPIC)
    found = response.coordinators if version >= 4 else [response]
    assert [(each.error_code, each.node_id, each.port) for each in found] == [
        (ErrorCode.NONE, 1, port)
    ] * (2 if version >= 4 else 1)
    if version >= 4:
        assert [each.key for each in found] == ["a", "b"]
    assert topic.partition_count == GroupSettings().partition_count
    assert topic.configs["cleanup.policy"] == "compact"


async def test_a_transaction_is_sent_here_and_makes_no_topic() -> None:
    async with serving() as running:
        request = FindCoordinatorRequest(key="t", key_type=TRANSACTION)
        response = await running.ask(request, 2)
        assert (response.error_code, response.node_id) == (ErrorCode.NONE, 1)
        assert running.broker.topics.by_name(TOPIC) is None


@pytest.mark.parametrize("version", [2, 6])
async def test_other_kinds_of_coordinators_are_refused(version: int) -> None:
    async with serving() as running:
        request = FindCoordinatorRequest(key="s", key_type=SHARE, coordinator_keys=["s"])
        response = await running.ask(request, version)
    found = response.coordinators[0] if version >= 4 else response
    assert (found.error_code, found.node_id) == (ErrorCode.INVALID_REQUEST, -1)
    assert found.error_message


async def test_without_a_disk_to_keep_groups_on_there_is_no_coordinator_yet() -> None:
    async with serving() as running:
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        response = await running.ask(FindCoordinatorRequest(key="a"), 3)
        assert response.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        response = await running.ask(FindCoordinatorRequest(key="a"), 3)
        assert response.error_code == ErrorCode.NONE
