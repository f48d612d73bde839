"""OffsetDelete: only what nobody reads."""

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.kafka.group_client import GROUP, WireMember, committed_offset
from tests.kafka.serving import Serving, serving


async def delete(running: Serving, *topics: str, group: str = GROUP) -> tuple[int, list[int]]:
    """The error of the group, and those of the first two partitions of each topic."""
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in range(2)]
    request = OffsetDeleteRequest(
        group_id=group,
        topics=[OffsetDeleteRequestTopic(name=name, partitions=partitions) for name in topics],
    )
    response = await running.ask(request, 0)
    return response.error_code, [
        each.error_code for topic in response.topics for each in topic.partitions
    ]


async def test_what_members_read_stays_and_the_rest_goes() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.create("invoices")
        member = await WireMember.connect(running)
        await member.settle()
        await member.commit({("orders", 0): 3, ("invoices", 0): 4})
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        assert await delete(running, "orders", "invoices", "unknown") == (
            ErrorCode.NONE,
            [subscribed, unknown, ErrorCode.NONE, unknown, unknown, unknown],
        )
        assert await committed_offset(member, "orders", 0) == 3
        assert await committed_offset(member, "invoices", 0) == -1
        await member.leave()
        assert await delete(running, "orders") == (ErrorCode.NONE, [ErrorCode.NONE, unknown])
        await running.cut_power()
        again = WireMember(await running.connect())
        assert await committed_offset(again, "orders", 0) == -1


async def test_a_group_of_another_kind_must_have_no_members() -> None:
    async with serving() as running:
        await running.create("orders")
        member = await WireMember.connect(running)
        await member.enter(protocol_type="connect")
        assert await delete(running, "orders") == (ErrorCode.NON_EMPTY_GROUP, [])


async def test_a_group_that_nobody_knows_has_nothing_to_delete() -> None:
    async with serving() as running:
        assert await delete(running, "orders") == (ErrorCode.GROUP_ID_NOT_FOUND, [])
