"""The broker that leads a group: who is in it, and how far it has read."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from riverlog.client.cluster import Cluster
from riverlog.client.codes import PASSING, UNCERTAIN, failure, name_of
from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import Refused
from riverlog.client.membership import PROTOCOL_TYPE, RANGE, Member, read_topics, write_topics
from riverlog.client.waiting import Deadline
from riverlog.config import Address
from riverlog.protocol.error_codes import ErrorCode
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
from riverlog.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from riverlog.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

R = TypeVar("R")

_OUTDATED = frozenset(
    {
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.MEMBER_ID_REQUIRED,
    }
)


class Membership(NamedTuple):
    """Which member one is, in which generation of the group."""

    member_id: str
    generation: int


OUTSIDE = Membership("", -1)


class MustRejoin(Exception):
    """The group has moved on without us. `is_unknown` if it does not even know who we are."""

    def __init__(self, code: int) -> None:
        super().__init__(name_of(code))
        self.is_unknown = code == ErrorCode.UNKNOWN_MEMBER_ID


class Joined(NamedTuple):
    """A place in a group; the leader is told of all members, and shares out the partitions."""

    membership: Membership
    members: list[Member]


class Coordinator:
    """Asks the coordinator of one group, whichever broker that is.

    Every call raises `ConnectionLost` when it may help to ask again, and `MustRejoin` when one
    has to join first.
    """

    def __init__(self, cluster: Cluster, group: str, purpose: str) -> None:
        self._cluster = cluster
        self._purpose = purpose
        self._node: int | None = None
        self.group = group

    async def join(
        self, topic: str, member_id: str, session_timeout_ms: int, rebalance_timeout_ms: int
    ) -> Joined:
        """Waits for the group to gather, which takes until its slowest member has noticed."""
        deadline = self._cluster.deadline(
            rebalance_timeout_ms + self._cluster.settings.request_timeout_ms
        )
        while True:
            request = JoinGroupRequest(
                group_id=self.group,
                session_timeout_ms=session_timeout_ms,
                rebalance_timeout_ms=rebalance_timeout_ms,
                member_id=member_id,
                protocol_type=PROTOCOL_TYPE,
                protocols=[JoinGroupRequestProtocol(name=RANGE, metadata=write_topics([topic]))],
            )
            response = await self.ask(request, JoinGroupResponse, deadline, may_wait=True)
            if response.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                break
            member_id = response.member_id
        self.check(response.error_code)
        membership = Membership(response.member_id, response.generation_id)
        members = [
            Member(member.member_id, read_topics(member.metadata)) for member in response.members
        ]
        return Joined(membership, members if response.leader == response.member_id else [])

    async def sync(
        self, membership: Membership, shares: Mapping[str, bytes], rebalance_timeout_ms: int
    ) -> bytes:
        """What the leader gave us; `shares` is what we give if we are the leader."""
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=membership.generation,
            member_id=membership.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=RANGE,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=share)
                for member_id, share in shares.items()
            ],
        )
        deadline = self._cluster.deadline(
            rebalance_timeout_ms + self._cluster.settings.request_timeout_ms
        )
        response = await self.ask(request, SyncGroupResponse, deadline, may_wait=True)
        self.check(response.error_code)
        return response.assignment

    async def heartbeat(self, membership: Membership) -> None:
        """Tells the group that we are there."""
        request = HeartbeatRequest(
            group_id=self.group,
            generation_id=membership.generation,
            member_id=membership.member_id,
        )
        response = await self.ask(request, HeartbeatResponse, self._cluster.deadline())
        self.check(response.error_code)

    async def leave(self, membership: Membership, deadline: Deadline) -> None:
        """Leaves the group, so that the others need not wait to notice."""
        request = LeaveGroupRequest(
            group_id=self.group,
            member_id=membership.member_id,
            members=[MemberIdentity(member_id=membership.member_id)],
        )
        await self.ask(request, LeaveGroupResponse, deadline)

    async def ask(
        self, request: Any, reply: type[R], deadline: Deadline, *, may_wait: bool = False
    ) -> R:
        """The coordinator's answer; a request that `may_wait` in the broker has all the time."""
        if self._node is None:
            self._node = await self._find(deadline)
        try:
            connection = await self._cluster.connection_to(self._node, deadline, self._purpose)
            limit_ms = self._cluster.settings.request_timeout_ms
            timeout_s = deadline.left_s(deadline.left_ms if may_wait else limit_ms)
            return await connection.ask(request, reply, timeout_s)
        except ConnectionLost:
            self._node = None
            raise

    def check(self, code: int) -> None:
        """Raises what an error code of the coordinator means."""
        if not code:
            return
        if code in _OUTDATED:
            raise MustRejoin(code)
        trouble = failure(code, f"group {self.group}")
        if code in PASSING or code in UNCERTAIN:
            self._node = None
            raise ConnectionLost(str(trouble))
        raise trouble

    async def _find(self, deadline: Deadline) -> int:
        request = FindCoordinatorRequest(key=self.group, coordinator_keys=[self.group])
        response = await self._cluster.ask(request, FindCoordinatorResponse, deadline)
        found: Any = response  # the fields of an answer to one group, before version 4
        if response.coordinators:
            found = response.coordinators[0]
        self.check(found.error_code)
        if found.node_id < 0:
            raise Refused("COORDINATOR_NOT_AVAILABLE", f"group {self.group} has no coordinator")
        self._cluster.learn_broker(found.node_id, Address(found.host, found.port))
        return int(found.node_id)
