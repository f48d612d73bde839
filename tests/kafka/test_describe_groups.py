"""DescribeGroups: who is in a group, and what they have."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_groups import DescribeGroupsRequest
from tests.kafka.group_client import GROUP, SUBSCRIPTION, WireMember
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(7))
async def test_every_version_describes_a_stable_group(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        member.instance_id = "a"
        await member.settle()
        response = await running.ask(DescribeGroupsRequest(groups=[GROUP]), version)
    (group,) = response.groups
    assert (group.error_code, group.group_id, group.group_state) == (0, GROUP, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    (described,) = group.members
    assert described.member_id == member.member_id
    assert described.group_instance_id == ("a" if version >= 4 else None)
    assert (described.client_id, described.client_host) == ("test", "/127.0.0.1")
    assert (described.member_metadata, described.member_assignment) == (SUBSCRIPTION, b"all")


async def test_shares_are_told_of_a_stable_group_alone() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.enter()
        response = await running.ask(DescribeGroupsRequest(groups=[GROUP]), 5)
    (group,) = response.groups
    assert (group.group_state, group.protocol_data) == ("CompletingRebalance", "")
    assert [(each.member_metadata, each.member_assignment) for each in group.members] == [
        (b"", b"")
    ]


@pytest.mark.parametrize("version", [0, 5, 6])
async def test_a_group_that_nobody_knows_is_dead(version: int) -> None:
    async with serving() as running:
        await WireMember.connect(running)
        response = await running.ask(DescribeGroupsRequest(groups=["unknown"]), version)
    (group,) = response.groups
    assert (group.group_id, group.group_state) == ("unknown", "Dead")
    is_told = version >= 6
    assert group.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if is_told else ErrorCode.NONE)
    assert group.error_message == ("Group unknown not found." if is_told else None)


@pytest.mark.parametrize(("asks", "operations"), [(True, 3400), (False, -(2**31))])
async def test_everything_is_allowed_to_those_who_ask(asks: bool, operations: int) -> None:
    async with serving() as running:
        await (await WireMember.connect(running)).settle()
        request = DescribeGroupsRequest(
            groups=[GROUP, "unknown"], include_authorized_operations=asks
        )
        found, missing = (await running.ask(request, 6)).groups
    assert found.authorized_operations == operations
    assert missing.authorized_operations == -(2**31)


async def test_a_group_that_is_named_often_is_told_of_once() -> None:
    async with serving() as running:
        await (await WireMember.connect(running)).settle()
        names = [GROUP, "unknown", *[GROUP, "unknown"] * 1000]
        response = await running.ask(DescribeGroupsRequest(groups=names), 6)
    assert [group.group_id for group in response.groups] == [GROUP, "unknown"]
