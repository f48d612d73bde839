"""DeleteGroups: only those without members, and for good."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.delete_groups import DeleteGroupsRequest
from riverlog.protocol.messages.list_groups import ListGroupsRequest
from tests.kafka.group_client import GROUP, WireMember, committed_offset
from tests.kafka.serving import Serving, serving


async def delete(running: Serving, *groups: str, version: int = 2) -> dict[str, int]:
    response = await running.ask(DeleteGroupsRequest(groups_names=groups), version)
    return {result.group_id: result.error_code for result in response.results}


@pytest.mark.parametrize("version", range(3))
async def test_every_version_deletes_groups_without_members(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        member = await WireMember.connect(running)
        await member.settle()
        tool = await WireMember.connect(running, "empty")
        await tool.commit({("orders", 0): 3})
        codes = await delete(running, GROUP, "empty", "unknown", version=version)
        assert codes == {
            GROUP: ErrorCode.NON_EMPTY_GROUP,
            "empty": ErrorCode.NONE,
            "unknown": ErrorCode.GROUP_ID_NOT_FOUND,
        }
        assert await committed_offset(tool, "orders", 0) == -1
        response = await running.ask(ListGroupsRequest(), 4)
        assert [group.group_id for group in response.groups] == [GROUP]


async def test_a_deleted_group_stays_deleted() -> None:
    async with serving() as running:
        await running.create("orders")
        member = await WireMember.connect(running)
        await member.settle()
        await member.commit({("orders", 0): 3})
        await member.leave()
        assert await delete(running, GROUP) == {GROUP: ErrorCode.NONE}
        await running.cut_power()
        again = WireMember(await running.connect())
        assert await committed_offset(again, "orders", 0) == -1
        assert await delete(running, GROUP) == {GROUP: ErrorCode.GROUP_ID_NOT_FOUND}


async def test_where_there_was_never_a_group_none_is_found() -> None:
    async with serving() as running:
        assert await delete(running, GROUP) == {GROUP: ErrorCode.GROUP_ID_NOT_FOUND}
        assert await delete(running) == {}
