"""SyncGroup: shares come from the leader, and are durable before anyone has one."""

import asyncio

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.group_client import WireMember, two_members
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(6))
async def test_every_version_gives_a_member_its_share(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.enter()
        response = await member.sync(version, {member.member_id: b"all"})
    assert (response.error_code, response.assignment) == (ErrorCode.NONE, b"all")
    expected = ("consumer", "range") if version == 5 else (None, None)
    assert (response.protocol_type, response.protocol_name) == expected


async def test_the_others_wait_for_the_leader() -> None:
    async with serving() as running:
        leader, other = await two_members(running)
        waiting = asyncio.ensure_future(other.sync())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await leader.sync(shares={other.member_id: b"right"})
        assert (await waiting).assignment == b"right"


async def test_nobody_has_a_share_before_it_is_durable() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.enter()
        running.syncer.hold()
        waiting = asyncio.ensure_future(member.sync(shares={member.member_id: b"all"}))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        running.syncer.let_go()
        assert (await waiting).assignment == b"all"
        await running.cut_power()
        again = await WireMember.connect(running)
        again.member_id, again.generation = member.member_id, member.generation
        assert (await again.sync()).assignment == b"all"


async def test_when_the_disk_fails_members_join_again() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.enter()
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        response = await member.sync(shares={member.member_id: b"all"})
        assert response.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        await member.settle()
        assert member.generation == 2


async def test_a_member_of_another_generation_or_protocol_is_told() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.settle()
        member.generation = 2
        assert (await member.sync()).error_code == ErrorCode.ILLEGAL_GENERATION
        member.generation = 1
        for protocol in (("consumer", "sticky"), ("connect", "range")):
            member.protocol = protocol
            assert (await member.sync()).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        member.member_id = "nobody"
        assert (await member.sync()).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        nameless = await WireMember.connect(running, "")
        assert (await nameless.sync()).error_code == ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("protocol", [(None, "range"), ("consumer", None)])
async def test_from_version_5_on_a_member_says_which_protocol_it_means(
    protocol: tuple[str | None, str | None],
) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        await member.settle()
        member.protocol = protocol
        refused = await member.sync()
        assert (refused.error_code, refused.assignment) == (
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            b"",
        )
        assert (await member.sync(4)).error_code == ErrorCode.NONE


async def test_who_waits_for_a_share_hears_of_the_next_rebalance() -> None:
    async with serving() as running:
        _, other = await two_members(running)
        waiting = asyncio.ensure_future(other.sync())
        await asyncio.sleep(0.05)
        newcomer = await WireMember.connect(running)
        entering = asyncio.ensure_future(newcomer.enter())
        assert (await waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
        entering.cancel()
