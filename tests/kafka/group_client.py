"""A member of a group on the wire, for tests of the APIs that groups use."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from riverlog.groups.settings import GroupSettings
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.find_coordinator import FindCoordinatorRequest
from riverlog.protocol.messages.heartbeat import HeartbeatRequest
from riverlog.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from riverlog.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
)
from riverlog.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.kafka.door import RawClient
from tests.kafka.serving import Serving

GROUP = "readers"
# A consumer's subscription to the topic `orders`.
SUBSCRIPTION = b"\0\3" + b"\0\0\0\1" + b"\0\6orders" + b"\xff\xff\xff\xff"


# Long enough for members that start together to meet, on a busy machine too.
TOGETHER = GroupSettings(initial_delay_ms=300)


class WireMember:
    """One member with a connection of its own; it remembers its id, generation and protocol."""

    def __init__(self, client: RawClient, group: str = GROUP) -> None:
        self._client = client
        self.group = group
        self.member_id = ""
        self.instance_id: str | None = None
        self.generation = -1
        self.protocol: tuple[str | None, str | None] = ("consumer", "range")

    @classmethod
    async def connect(cls, running: Serving, group: str = GROUP) -> "WireMember":
        """A member that has found its coordinator."""
        member = cls(await running.connect(), group)
        await member._client.ask(FindCoordinatorRequest(key=group), 0)
        return member

    async def join(
        self,
        version: int = 9,
        *,
        protocols: Mapping[str, bytes] | None = None,
        protocol_type: str = "consumer",
        session_timeout_ms: int = 10_000,
    ) -> JoinGroupResponse:
        """Asks once, whatever the answer."""
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=5_000,
            member_id=self.member_id,
            group_instance_id=self.instance_id if version >= 5 else None,
            protocol_type=protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in (protocols or {"range": SUBSCRIPTION}).items()
            ],
        )
        response: JoinGroupResponse = await self._client.ask(request, version)
        if response.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.member_id = response.member_id
            self.generation = response.generation_id
        if response.error_code == ErrorCode.NONE:
            self.protocol = (protocol_type, response.protocol_name)
        return response

    async def enter(self, version: int = 9, **options: Any) -> JoinGroupResponse:
        """Joins, with the id that it is given first."""
        response = await self.join(version, **options)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            response = await self.join(version, **options)
        assert response.error_code == ErrorCode.NONE, response
        return response

    async def sync(
        self, version: int = 5, shares: Mapping[str, bytes] | None = None
    ) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id if version >= 3 else None,
            protocol_type=self.protocol[0],
            protocol_name=self.protocol[1],
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=share)
                for member_id, share in (shares or {}).items()
            ],
        )
        response: SyncGroupResponse = await self._client.ask(request, version)
        return response

    async def settle(self) -> None:
        """Joins alone, and has all there is."""
        await self.enter()
        response = await self.sync(shares={self.member_id: b"all"})
        assert (response.error_code, response.assignment) == (ErrorCode.NONE, b"all")

    async def heartbeat(self, version: int = 4) -> int:
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id if version >= 3 else None,
        )
        code: int = (await self._client.ask(request, version)).error_code
        return code

    async def leave(self, version: int = 5) -> Any:  # the response, or its only member's
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        if version < 3:
            request = LeaveGroupRequest(group_id=self.group, member_id=self.member_id)
            return await self._client.ask(request, version)
        request = LeaveGroupRequest(group_id=self.group, members=[identity])
        response = await self._client.ask(request, version)
        return response.members[0] if response.members else response

    async def commit(
        self,
        offsets: Mapping[tuple[str, int], int],
        version: int = 9,
        *,
        metadata: str | None = "",
        topic_ids: Mapping[str, bytes] | None = None,
        retention_ms: int = -1,
    ) -> dict[tuple[str, int], int]:
        """The error codes by place."""
        ids = topic_ids or {}
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            retention_time_ms=retention_ms,
            topics=[
                OffsetCommitRequestTopic(
                    name=name,
                    topic_id=ids.get(name, bytes(16)),
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=index,
                            committed_offset=offset,
                            committed_leader_epoch=4,
                            committed_metadata=metadata,
                        )
                    ],
                )
                for (name, index), offset in offsets.items()
            ],
        )
        response: OffsetCommitResponse = await self._client.ask(request, version)
        names = {topic_id: name for name, topic_id in ids.items()}
        return {
            (topic.name or names[topic.topic_id], each.partition_index): each.error_code
            for topic in response.topics
            for each in topic.partitions
        }

    async def fetch(
        self, topics: Mapping[str, Sequence[int]] | None, version: int = 9
    ) -> OffsetFetchResponseGroup:
        """What the group has committed, by v8 or v9."""
        asked = None
        if topics is not None:
            asked = [
                OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
                for name, indexes in topics.items()
            ]
        group = OffsetFetchRequestGroup(group_id=self.group, topics=asked)
        response = await self._client.ask(OffsetFetchRequest(groups=[group]), version)
        (found,) = response.groups
        assert isinstance(found, OffsetFetchResponseGroup)
        return found


async def committed_offset(member: WireMember, topic: str, index: int) -> int:
    """One committed offset; -1 without one."""
    group = await member.fetch({topic: [index]})
    assert group.error_code == ErrorCode.NONE
    offset: int = group.topics[0].partitions[0].committed_offset
    return offset


async def two_members(running: Serving) -> tuple[WireMember, WireMember]:
    """A leader and another one, in a generation that is not shared out yet."""
    leader, other = await WireMember.connect(running), await WireMember.connect(running)
    running.broker.coordinator.settings = TOGETHER
    await asyncio.gather(leader.enter(), other.enter())
    if (await leader.join()).leader != leader.member_id:
        leader, other = other, leader
    return leader, other
