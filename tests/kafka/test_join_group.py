"""JoinGroup: generations, ids, leaders, and who is let in."""

import asyncio

import pytest

from riverlog.protocol.error_codes import ErrorCode
from tests.kafka.group_client import GROUP, SUBSCRIPTION, TOGETHER, WireMember, two_members
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(10))
async def test_every_version_lets_a_member_in(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        response = await member.enter(version)
    assert response.generation_id == 1
    assert response.leader == response.member_id == member.member_id
    assert response.protocol_name == "range"
    assert response.protocol_type == ("consumer" if version >= 7 else None)
    assert [(each.member_id, each.metadata) for each in response.members] == [
        (member.member_id, SUBSCRIPTION)
    ]
    assert not response.skip_assignment


@pytest.mark.parametrize(("version", "is_given_first"), [(3, False), (4, True), (9, True)])
async def test_from_v4_on_an_id_is_given_first(version: int, is_given_first: bool) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        response = await member.join(version)
    expected = ErrorCode.MEMBER_ID_REQUIRED if is_given_first else ErrorCode.NONE
    assert response.error_code == expected
    assert response.member_id.startswith("test-")


async def test_members_that_start_together_are_in_one_generation() -> None:
    async with serving() as running:
        members = [await WireMember.connect(running) for _ in range(3)]
        running.broker.coordinator.settings = TOGETHER
        responses = await asyncio.gather(*(member.enter() for member in members))
    assert {response.generation_id for response in responses} == {1}
    assert len({response.leader for response in responses}) == 1
    assert sorted(len(response.members) for response in responses) == [0, 0, 3]


async def test_whoever_comes_later_waits_for_the_others_to_join_again() -> None:
    async with serving() as running:
        first, second = await WireMember.connect(running), await WireMember.connect(running)
        await first.settle()
        waiting = asyncio.ensure_future(second.enter())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        assert await first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        response = await first.join()
        assert (await waiting).generation_id == response.generation_id == 2


@pytest.mark.parametrize("version", [8, 9])
async def test_a_static_leader_that_is_back_does_not_share_out_anew(version: int) -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        member.instance_id = "a"
        await member.settle()
        former_id = member.member_id
        member.member_id = ""
        response = await member.join(version)
        assert response.error_code == ErrorCode.NONE
        assert response.generation_id == 1
        assert response.member_id != former_id
        assert response.skip_assignment == (version == 9)
        assert response.leader == (response.member_id if version == 9 else former_id)
        assert len(response.members) == (1 if version == 9 else 0)
        assert (await member.sync()).assignment == b"all"
        await running.cut_power()
        again = await WireMember.connect(running)
        again.instance_id, again.member_id, again.generation = "a", member.member_id, 1
        assert await again.heartbeat() == ErrorCode.NONE


async def test_the_process_that_a_static_member_replaced_is_fenced() -> None:
    async with serving() as running:
        member, other = await WireMember.connect(running), await WireMember.connect(running)
        member.instance_id = other.instance_id = "a"
        await member.settle()
        await other.join()
        assert await member.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
        assert (await member.join()).error_code == ErrorCode.FENCED_INSTANCE_ID
        assert (await member.sync()).error_code == ErrorCode.FENCED_INSTANCE_ID


async def test_what_cannot_be_is_refused() -> None:
    async with serving() as running:
        member = await WireMember.connect(running)
        nameless = await WireMember.connect(running, "")
        assert (await nameless.join()).error_code == ErrorCode.INVALID_GROUP_ID
        for timeout_ms in (5_999, 1_800_001):
            response = await member.join(session_timeout_ms=timeout_ms)
            assert response.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
        response = await member.join(protocol_type="")
        assert response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        member.member_id = "nobody"
        assert (await member.join()).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        member.member_id = ""
        await member.settle()
        other = await WireMember.connect(running)
        response = await other.join(protocols={"sticky": b""})
        assert response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert response.protocol_name is None
        response = await other.join(6, protocol_type="connect")
        assert response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert response.protocol_name == ""
        long = await WireMember.connect(running, "g" * 32_001)
        assert (await long.join()).error_code == ErrorCode.INVALID_GROUP_ID
        other.instance_id = "i" * 32_001
        assert (await other.join()).error_code == ErrorCode.INVALID_REQUEST


async def test_before_anyone_has_asked_for_a_coordinator_there_is_none() -> None:
    async with serving() as running:
        member = WireMember(await running.connect())
        assert (await member.join()).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


async def test_a_member_that_asks_twice_is_answered_on_the_later_connection() -> None:
    async with serving() as running:
        leader, other = await two_members(running)
        leader.generation = other.generation
        await leader.sync(shares={leader.member_id: b"all"})
        newcomer = await WireMember.connect(running)
        waiting = asyncio.ensure_future(newcomer.enter())
        await asyncio.sleep(0.05)
        first = asyncio.ensure_future(leader.join())
        await asyncio.sleep(0.05)
        double = await WireMember.connect(running, GROUP)
        double.member_id = leader.member_id
        second = asyncio.ensure_future(double.join())
        assert (await first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
        await other.join()
        assert (await second).error_code == (await waiting).error_code == ErrorCode.NONE


async def test_the_broker_stops_while_a_member_waits() -> None:
    async with serving() as running:
        first, second = await WireMember.connect(running), await WireMember.connect(running)
        await first.settle()
        waiting = asyncio.ensure_future(second.join(3))
        await asyncio.sleep(0.05)
        running.broker.stop_waiting()
        assert (await waiting).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert await first.heartbeat() == ErrorCode.COORDINATOR_NOT_AVAILABLE
