"""Where in a topic to begin or to end: names, numbers and times made offsets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from riverlog.client.cluster import Cluster
from riverlog.client.codes import MOVED, PASSING, UNCERTAIN, failure
from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import ClientError, InvalidArgument, TimedOut, UnknownTopic
from riverlog.client.waiting import Deadline
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

EARLIEST = -2
LATEST = -1
CONSUMER = -1

# "earliest" or "latest"; an offset in every partition, from the end if negative; an offset for
# each partition; the first record at or after a time.
Place = Literal["earliest", "latest"] | int | Mapping[int, int] | datetime


async def find(
    cluster: Cluster, topic: str, place: Place, partitions: list[int] | None, deadline: Deadline
) -> dict[int, int]:
    """The offset that `place` means, in each of the partitions (all of them for None).

    An offset that is named outright is given as it is, in the log or not.
    """
    view = await cluster.topic(topic, deadline)
    known = [partition.partition for partition in view.partitions]
    chosen = known if partitions is None else partitions
    if unknown := set(chosen) - set(known):
        raise UnknownTopic(f"{topic} has partitions 0 to {len(known) - 1}, not {min(unknown)}")
    if isinstance(place, Mapping):
        return {partition: place[partition] for partition in chosen if partition in place}
    if isinstance(place, datetime):
        return await _at_time(cluster, topic, chosen, _as_ms(place), deadline)
    if isinstance(place, int) and place >= 0:
        return dict.fromkeys(chosen, place)
    if place == "earliest":
        return await list_offsets(cluster, topic, dict.fromkeys(chosen, EARLIEST), deadline)
    ends = await list_offsets(cluster, topic, dict.fromkeys(chosen, LATEST), deadline)
    if place == "latest":
        return ends
    if not isinstance(place, int):
        raise InvalidArgument(f"{place!r} is no place in a topic")
    starts = await list_offsets(cluster, topic, dict.fromkeys(chosen, EARLIEST), deadline)
    return {partition: max(starts[partition], ends[partition] + place) for partition in chosen}


async def list_offsets(
    cluster: Cluster, topic: str, times_ms: Mapping[int, int], deadline: Deadline
) -> dict[int, int]:
    """The first offset at or after a time in each partition, -1 where there is none."""
    found: dict[int, int] = {}
    backoff = cluster.backoff()
    while missing := [partition for partition in times_ms if partition not in found]:
        await cluster.topic(topic, deadline)
        by_leader: dict[int | None, list[int]] = {}
        for partition in missing:
            by_leader.setdefault(cluster.leader_of(topic, partition), []).append(partition)
        trouble: Exception = TimedOut(f"{topic} has no leader")
        for leader, partitions in by_leader.items():
            if leader is None:
                continue
            try:
                asked = {partition: times_ms[partition] for partition in partitions}
                found |= await _ask_leader(cluster, leader, topic, asked, deadline)
            except (ConnectionLost, _Moved) as error:
                trouble = error
        if len(found) < len(times_ms):
            cluster.forget([topic])
            await cluster.pause(backoff, deadline, trouble)
    return found


class _Moved(Exception):
    """A partition's leader sent us away."""


async def _ask_leader(
    cluster: Cluster, leader: int, topic: str, times_ms: Mapping[int, int], deadline: Deadline
) -> dict[int, int]:
    partitions = [
        ListOffsetsPartition(partition_index=partition, timestamp=time_ms)
        for partition, time_ms in times_ms.items()
    ]
    request = ListOffsetsRequest(
        replica_id=CONSUMER, topics=[ListOffsetsTopic(name=topic, partitions=partitions)]
    )
    response = await cluster.ask_node(leader, request, ListOffsetsResponse, deadline)
    found: dict[int, int] = {}
    for partition in response.topics[0].partitions:
        error: ClientError | None = None
        if partition.error_code:
            error = failure(partition.error_code, f"{topic}/{partition.partition_index}")
            if partition.error_code not in MOVED | PASSING | UNCERTAIN:
                raise error
            raise _Moved(str(error))
        found[partition.partition_index] = partition.offset
    return found


async def _at_time(
    cluster: Cluster, topic: str, partitions: list[int], time_ms: int, deadline: Deadline
) -> dict[int, int]:
    found = await list_offsets(cluster, topic, dict.fromkeys(partitions, time_ms), deadline)
    beyond = {partition: LATEST for partition, offset in found.items() if offset < 0}
    return found | await list_offsets(cluster, topic, beyond, deadline) if beyond else found


def _as_ms(time: datetime) -> int:
    if time.tzinfo is None:
        raise InvalidArgument(f"{time!r} does not say which zone's time it is")
    return max(0, int(time.timestamp() * 1000))
