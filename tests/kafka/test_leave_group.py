"""LeaveGroup: one by one, and several at once."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.kafka.group_client import GROUP, WireMember
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(6))
async def test_every_version_lets_a_member_go(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.settle()
        assert (await member.leave(version)).error_code == ErrorCode.NONE
        assert await member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        assert (await member.leave(version)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_an_id_that_was_given_and_not_used_is_given_back() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.join()
        assert (await member.leave()).error_code == ErrorCode.NONE
        assert (await member.join()).error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_each_of_several_has_an_answer_of_its_own() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        member.instance_id = "a"
        await member.settle()
        identities = [
            MemberIdentity(member_id="nobody"),
            MemberIdentity(member_id="other", group_instance_id="a"),
            MemberIdentity(member_id="", group_instance_id="unknown"),
            MemberIdentity(member_id="", group_instance_id="a"),
        ]
        response = await running.ask(LeaveGroupRequest(group_id=GROUP, members=identities), 5)
    assert response.error_code == ErrorCode.NONE
    assert [each.error_code for each in response.members] == [
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
    ]
    assert [each.group_instance_id for each in response.members] == [None, "a", "unknown", "a"]


async def test_a_group_without_a_name_has_nobody_to_leave_it() -> None:
    async with serving() as running:
        nameless = await WireMember.connect(running, "")
        nameless.member_id = "m"
        assert (await nameless.leave()).error_code == ErrorCode.INVALID_GROUP_ID
