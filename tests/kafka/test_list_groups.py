"""ListGroups: all groups, or those in some states or of some types."""

from collections.abc import Sequence

import pytest

from riverlog.protocol.messages.list_groups import ListGroupsRequest
from tests.kafka.group_client import WireMember
from tests.kafka.serving import Serving, serving


async def listed(
    running: Serving, states: Sequence[str] = (), types: Sequence[str] = (), version: int = 5
) -> set[tuple[str, str, str, str]]:
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    response = await running.ask(request, version)
    assert response.error_code == 0
    return {(g.group_id, g.protocol_type, g.group_state, g.group_type) for g in response.groups}


async def with_two_groups(running: Serving) -> None:
    await running.create("orders")
    member = await WireMember.connect(running, "stable")
    await member.settle()
    tool = await WireMember.connect(running, "empty")
    await tool.commit({("orders", 0): 1})


@pytest.mark.parametrize("version", range(6))
async def test_every_version_lists_all_groups(version: int) -> None:
    async with serving() as running:
        await with_two_groups(running)
        found = await listed(running, version=version)
    is_stated, is_typed = version >= 4, version >= 5
    kind = "classic" if is_typed else ""
    assert found == {
        ("stable", "consumer", "Stable" if is_stated else "", kind),
        ("empty", "", "Empty" if is_stated else "", kind),
    }


async def test_groups_are_chosen_by_state_and_type_in_any_case() -> None:
    async with serving() as running:
        await with_two_groups(running)
        assert {each[0] for each in await listed(running, ["STABLE"])} == {"stable"}
        assert {each[0] for each in await listed(running, ["Empty", "Dead"])} == {"empty"}
        assert {each[0] for each in await listed(running, [], ["Classic"])} == {"stable", "empty"}
        assert await listed(running, [], ["consumer"]) == set()
        assert await listed(running, ["nonsense"]) == set()


async def test_groups_are_known_after_a_restart() -> None:
    async with serving() as running:
        assert await listed(running) == set()
        await with_two_groups(running)
        before = await listed(running)
        await running.restart()
        assert await listed(running) == before
