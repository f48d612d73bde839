"""Heartbeat: who is still there, and who is not any more."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from tests.kafka.group_client import WireMember
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(5))
async def test_every_version_tells_a_member_that_all_is_well(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.settle()
        assert await member.heartbeat(version) == ErrorCode.NONE


async def test_a_member_that_does_not_belong_is_told_why() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        assert await member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        await member.settle()
        member.generation = 7
        assert await member.heartbeat() == ErrorCode.ILLEGAL_GENERATION
        member.instance_id = "unknown"
        assert await member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        nameless = await WireMember.connect(running, "")
        assert await nameless.heartbeat() == ErrorCode.INVALID_GROUP_ID


async def test_a_member_goes_on_after_a_restart() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.settle()
        await running.restart()
        again = await WireMember.connect(running)
        again.member_id, again.generation = member.member_id, member.generation
        assert await again.heartbeat() == ErrorCode.NONE
