"""Consumer groups as a whole: who is in them, how far they have read, and setting them back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from riverlog.client.cluster import Cluster
from riverlog.client.codes import failure
from riverlog.client.connection import ConnectionLost
from riverlog.client.coordinator import OUTSIDE, Coordinator, MustRejoin
from riverlog.client.errors import GroupInUse, UnknownGroup
from riverlog.client.group_offsets import commit, committed
from riverlog.client.membership import PROTOCOL_TYPE, UnreadableMember, read_assignment
from riverlog.client.offsets import Place, find
from riverlog.client.waiting import Deadline
from riverlog.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from riverlog.protocol.messages.describe_groups import (
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from riverlog.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

R = TypeVar("R")

DEAD = "Dead"


class ListedGroup(NamedTuple):
    """A group, as the list of them has it. Old brokers do not tell the state."""

    name: str
    state: str
    protocol_type: str


class GroupMember(NamedTuple):
    """One member; `partitions` by topic, empty while the group gathers."""

    member_id: str
    client_id: str
    host: str
    partitions: dict[str, list[int]]


class GroupView(NamedTuple):
    """A group as it is now."""

    name: str
    state: str
    assignor: str
    members: tuple[GroupMember, ...]


class GroupProgress(NamedTuple):
    """How far a group has read in a partition; `lag` is what is left, None if it read nothing."""

    topic: str
    partition: int
    committed: int | None
    end: int
    lag: int | None
    member: GroupMember | None


class Groups:
    """What can be asked of groups; every call takes `timeout_ms`, or else the client's."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def list(self, *, timeout_ms: int | None = None) -> Sequence[ListedGroup]:
        """Every group there is, by name."""
        deadline = self._cluster.deadline(timeout_ms)

        async def ask_all() -> list[ListedGroup]:
            found = []
            for node in await self._cluster.nodes(deadline):
                request = ListGroupsRequest()
                response = await self._cluster.ask_node(node, request, ListGroupsResponse, deadline)
                if response.error_code:
                    raise ConnectionLost(str(failure(response.error_code, "groups")))
                found += [
                    ListedGroup(group.group_id, group.group_state, group.protocol_type)
                    for group in response.groups
                ]
            return found

        return sorted(await self._retried(ask_all, deadline))

    async def describe(self, name: str, *, timeout_ms: int | None = None) -> GroupView:
        """One group as it is now; raises `UnknownGroup`."""
        return await self._described(name, self._cluster.deadline(timeout_ms))

    async def progress(
        self, name: str, *, timeout_ms: int | None = None
    ) -> Sequence[GroupProgress]:
        """How far the group has read, in every partition that it reads or has read."""
        deadline = self._cluster.deadline(timeout_ms)
        view = await self._described(name, deadline)
        coordinator = Coordinator(self._cluster, name, "ask")
        done = await self._retried(lambda: committed(coordinator, None, deadline), deadline)
        owners = {
            (topic, partition): member
            for member in view.members
            for topic, partitions in member.partitions.items()
            for partition in partitions
        }
        told = []
        for topic in sorted({*done, *(topic for topic, _ in owners)}):
            ends = await find(self._cluster, topic, "latest", None, deadline)
            for partition, end in sorted(ends.items()):
                offset = done.get(topic, {}).get(partition)
                owner = owners.get((topic, partition))
                if offset is not None or owner is not None:
                    lag = None if offset is None else max(0, end - offset)
                    told.append(GroupProgress(topic, partition, offset, end, lag, owner))
        return told

    async def reset(
        self,
        name: str,
        topic: str,
        place: Place,
        *,
        partitions: Sequence[int] | None = None,
        is_dry_run: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[int, int]:
        """Sets a group that has no members to a place in a topic, durably; gives the offsets.

        Raises `GroupInUse` while it has members. A group that is not there is made.
        """
        deadline = self._cluster.deadline(timeout_ms)
        chosen = None if partitions is None else [*partitions]
        offsets = await find(self._cluster, topic, place, chosen, deadline)
        try:
            if (await self._described(name, deadline)).members:
                raise GroupInUse(f"group {name} has members: stop them first")
        except UnknownGroup:
            pass
        if is_dry_run or not offsets:
            return offsets
        coordinator = Coordinator(self._cluster, name, "ask")

        async def set_back() -> None:
            await commit(coordinator, OUTSIDE, topic, offsets, deadline)

        await self._retried(set_back, deadline)
        return offsets

    async def delete(self, name: str, *, timeout_ms: int | None = None) -> None:
        """Deletes a group and what it has committed; raises `UnknownGroup` or `GroupInUse`."""
        deadline = self._cluster.deadline(timeout_ms)
        coordinator = Coordinator(self._cluster, name, "ask")

        async def ask() -> None:
            request = DeleteGroupsRequest(groups_names=[name])
            response = await coordinator.ask(request, DeleteGroupsResponse, deadline)
            coordinator.check(response.results[0].error_code)

        await self._retried(ask, deadline)

    async def _described(self, name: str, deadline: Deadline) -> GroupView:
        coordinator = Coordinator(self._cluster, name, "ask")

        async def ask() -> GroupView:
            request = DescribeGroupsRequest(groups=[name])
            response = await coordinator.ask(request, DescribeGroupsResponse, deadline)
            group = response.groups[0]
            coordinator.check(group.error_code)
            # Brokers of older versions have a state for a group that is not there.
            if group.group_state == DEAD:
                raise UnknownGroup(f"there is no group {name}")
            members = [_member(member, group.protocol_type) for member in group.members]
            return GroupView(name, group.group_state, group.protocol_data, tuple(members))

        return await self._retried(ask, deadline)

    async def _retried(self, ask: Callable[[], Awaitable[R]], deadline: Deadline) -> R:
        backoff = self._cluster.backoff()
        while True:
            try:
                return await ask()
            except ConnectionLost as lost:
                await self._cluster.pause(backoff, deadline, lost)
            except MustRejoin:
                raise GroupInUse("the group has members: stop them first") from None


def _member(member: DescribedGroupMember, protocol_type: str) -> GroupMember:
    partitions: dict[str, list[int]] = {}
    if protocol_type == PROTOCOL_TYPE:
        try:
            partitions = read_assignment(member.member_assignment)
        except UnreadableMember:
            partitions = {}
    return GroupMember(member.member_id, member.client_id, member.client_host, partitions)
