"""OffsetCommit: durable before the reply, and only from those who may."""

import asyncio

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.group_client import WireMember, committed_offset, two_members
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(2, 11))
async def test_every_version_commits(version: int) -> None:
    async with serving() as running:
        topic = await running.create("orders")
        member = await WireMember.connect(running)
        await member.settle()
        ids = {"orders": topic.topic_id}
        codes = await member.commit({("orders", 0): 5}, version, topic_ids=ids)
        assert codes == {("orders", 0): ErrorCode.NONE}
        (found,) = (await member.fetch({"orders": [0]})).topics[0].partitions
        assert found.committed_offset == 5
        assert found.committed_leader_epoch == (4 if version >= 6 else -1)


async def test_the_reply_waits_for_the_disk_and_outlives_a_power_cut() -> None:
    async with serving() as running:
        await running.create("orders")
        member = await WireMember.connect(running)
        await member.settle()
        running.syncer.hold()
        asked = asyncio.ensure_future(member.commit({("orders", 0): 5}))
        await asyncio.sleep(0.05)
        assert not asked.done()
        reader = WireMember(await running.connect())
        assert await committed_offset(reader, "orders", 0) == -1
        running.syncer.let_go()
        assert await asked == {("orders", 0): ErrorCode.NONE}
        await running.cut_power()
        again = WireMember(await running.connect())
        assert await committed_offset(again, "orders", 0) == 5


async def test_what_is_not_there_or_too_long_is_refused_on_its_own() -> None:
    async with serving() as running:
        await running.create("orders", partitions=2)
        member = await WireMember.connect(running)
        await member.settle()
        codes = await member.commit({("orders", 1): 5, ("orders", 2): 5, ("unknown", 0): 5})
        assert codes == {
            ("orders", 1): ErrorCode.NONE,
            ("orders", 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ("unknown", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        long = await member.commit({("orders", 1): 6}, metadata="x" * 4_097)
        assert long == {("orders", 1): ErrorCode.OFFSET_METADATA_TOO_LARGE}
        ids = {"unknown": b"\7" * 16}
        codes = await member.commit({("unknown", 0): 5}, 10, topic_ids=ids)
        assert codes == {("unknown", 0): ErrorCode.UNKNOWN_TOPIC_ID}
        assert await committed_offset(member, "orders", 1) == 5


async def test_anyone_may_commit_for_a_group_without_members() -> None:
    async with serving() as running:
        await running.create("orders")
        tool, member = await WireMember.connect(running), await WireMember.connect(running)
        place = ("orders", 0)
        assert await tool.commit({place: 3}) == {place: ErrorCode.NONE}
        await member.settle()
        assert await tool.commit({place: 0}) == {place: ErrorCode.UNKNOWN_MEMBER_ID}
        member.generation = 9
        assert await member.commit({place: 0}) == {place: ErrorCode.ILLEGAL_GENERATION}
        assert await committed_offset(tool, "orders", 0) == 3
        unknown = await WireMember.connect(running, "unknown")
        unknown.generation, unknown.member_id = 1, "m"
        assert await unknown.commit({place: 0}) == {place: ErrorCode.ILLEGAL_GENERATION}


async def test_nobody_commits_while_the_work_is_shared_out() -> None:
    async with serving() as running:
        await running.create("orders")
        _, other = await two_members(running)
        place = ("orders", 0)
        assert await other.commit({place: 1}) == {place: ErrorCode.REBALANCE_IN_PROGRESS}


async def test_what_the_disk_refuses_may_be_tried_again() -> None:
    async with serving() as running:
        await running.create("orders")
        member = await WireMember.connect(running)
        await member.settle()
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        place = ("orders", 0)
        assert await member.commit({place: 1}) == {place: ErrorCode.COORDINATOR_NOT_AVAILABLE}
        assert await committed_offset(member, "orders", 0) == -1
        assert await member.commit({place: 1}) == {place: ErrorCode.NONE}
        await running.cut_power()
        again = WireMember(await running.connect())
        assert await committed_offset(again, "orders", 0) == 1


async def test_a_topic_that_is_deleted_takes_its_offsets_with_it() -> None:
    async with serving() as running:
        topic = await running.create("orders")
        tool = await WireMember.connect(running)
        await tool.commit({("orders", 0): 3})
        await running.broker.delete_topic(topic.topic_id)
        await running.create("orders")
        assert await committed_offset(tool, "orders", 0) == -1
        await running.restart()
        again = WireMember(await running.connect())
        assert await committed_offset(again, "orders", 0) == -1
