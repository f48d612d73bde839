"""Members of a group that do nothing but join, in one process and without a client library."""

import asyncio
import struct
from typing import Any, TypeVar

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.headers import read_response, request_frame
from riverlog.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from riverlog.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from riverlog.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from riverlog.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from riverlog.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

R = TypeVar("R")

SESSION_MS, REBALANCE_MS = 30_000, 60_000
# What a subscription and a share weigh that name one topic and a few partitions.
METADATA, SHARE = bytes(40), bytes(60)


class GroupMember:
    """One member on a connection of its own."""

    def __init__(
        self, group: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._group = group
        self._reader = reader
        self._writer = writer
        self._member_id = ""
        self.is_leader = False
        self.generation = -1

    @classmethod
    async def connect(cls, port: int, group: str) -> "GroupMember":
        """A member that has found its coordinator, and not joined yet."""
        member = cls(group, *await asyncio.open_connection("127.0.0.1", port))
        await member._ask(FindCoordinatorRequest(key=group), 2, FindCoordinatorResponse)
        return member

    async def is_called(self) -> bool:
        """Whether the group begins a new generation, which it should join."""
        request = HeartbeatRequest(
            group_id=self._group, generation_id=self.generation, member_id=self._member_id
        )
        reply = await self._ask(request, 3, HeartbeatResponse)
        return reply.error_code == ErrorCode.REBALANCE_IN_PROGRESS

    async def rebalance(self) -> None:
        """Joins, shares out the work if it is the leader, and returns when it has its share."""
        while not await self._take_part():
            pass

    async def _take_part(self) -> bool:
        """Goes through one generation; False if the next one has begun meanwhile."""
        joined = await self._join()
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = joined.member_id
            joined = await self._join()
        assert joined.error_code == ErrorCode.NONE, joined
        self._member_id, self.generation = joined.member_id, joined.generation_id
        self.is_leader = joined.leader == joined.member_id
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=self.generation,
            member_id=self._member_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=each.member_id, assignment=SHARE)
                for each in joined.members
            ],
        )
        synced = await self._ask(request, 3, SyncGroupResponse)
        if synced.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            return False
        assert synced.error_code == ErrorCode.NONE, synced
        assert bytes(synced.assignment) == SHARE
        return True

    def close(self) -> None:
        self._writer.close()

    async def _join(self) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=METADATA)],
        )
        return await self._ask(request, 5, JoinGroupResponse)

    async def _ask(self, request: Any, version: int, response: type[R]) -> R:  # share no type
        self._writer.write(b"".join(request_frame(request, version, 0, "member")))
        (length,) = struct.unpack(">i", await self._reader.readexactly(4))
        frame = await self._reader.readexactly(length)
        message: R = read_response(request, version, frame, response)[1]
        return message


class Members:
    """A whole group; `rebalance` takes it from one generation to the next."""

    def __init__(self, members: list[GroupMember]) -> None:
        self._members = members

    @classmethod
    async def connect(cls, port: int, group: str, count: int) -> "Members":
        """A group of so many members, which has had its first generation."""
        members = cls([await GroupMember.connect(port, group) for _ in range(count)])
        await asyncio.gather(*(members._settle(member) for member in members._members))
        return members

    async def _settle(self, member: GroupMember) -> None:
        """Whoever has joined early joins again until all are in one generation."""
        await member.rebalance()
        while len(self.generations) > 1:
            if await member.is_called():
                await member.rebalance()
            else:
                await asyncio.sleep(0.01)

    @property
    def generations(self) -> set[int]:
        """The generations that its members are in: one, if all is well."""
        return {member.generation for member in self._members}

    async def rebalance(self) -> float:
        """Everyone joins again, the leader first; gives the seconds until all have their share."""
        loop = asyncio.get_running_loop()
        ordered = sorted(self._members, key=lambda member: not member.is_leader)
        begun_s = loop.time()
        await asyncio.gather(*(member.rebalance() for member in ordered))
        return loop.time() - begun_s

    def close(self) -> None:
        for member in self._members:
            member.close()


async def listed_groups(port: int) -> int:
    """How many groups the broker lists; -1 while it is still reading them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    asker = GroupMember("", reader, writer)
    reply = await asker._ask(ListGroupsRequest(), 4, ListGroupsResponse)
    asker.close()
    return len(reply.groups) if reply.error_code == ErrorCode.NONE else -1
