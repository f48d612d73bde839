"""Groups: crowds of members that are none, texts that are too long, other people's groups."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from riverlog.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.conformance.clients.raw_connection import RawConnection
from tests.hostile.scene import BYSTANDERS_TOPIC, Scene, frame_of

CROWD = 12_000
SIZE_MAX = 10_000
GROUPS = 12_000
JOIN_VERSION = 5
# Where the error code stands in a JoinGroup reply of that version: behind the correlation id and
# the throttle time.
ERROR_AT = 8


def join(group_id: str, metadata: bytes = b"", member_id: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=6_000,
        rebalance_timeout_ms=6_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
    )


def commit(group_id: str, metadata: str, member_id: str = "") -> OffsetCommitRequest:
    offset = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=metadata
    )
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=1 if member_id else -1,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name=BYSTANDERS_TOPIC, partitions=[offset])],
    )


def committed(client: RawConnection, request: OffsetCommitRequest) -> int:
    return client.ask(request, 8, OffsetCommitResponse).topics[0].partitions[0].error_code


@pytest.fixture
def client(scene: Scene) -> RawConnection:
    """A connection to a broker that has a place for groups."""
    found = scene.connect()
    found.ask(FindCoordinatorRequest(key="any"), 1, FindCoordinatorResponse)
    return found


def codes_of(client: RawConnection, frames: list[bytes]) -> list[int]:
    """Sends them all at once; the error codes of their replies."""
    client.write(b"".join(frames))
    codes = []
    for _ in frames:
        reply = client.receive()
        assert reply is not None
        codes.append(int.from_bytes(reply[ERROR_AT : ERROR_AT + 2], "big"))
    return codes


def test_a_group_has_ten_thousand_members_at_most_with_those_that_never_return(
    scene: Scene, client: RawConnection
) -> None:
    with scene.attack() as bystander:
        codes = codes_of(client, [frame_of(join("crowd"), JOIN_VERSION)] * CROWD)
        assert codes[:SIZE_MAX] == [ErrorCode.MEMBER_ID_REQUIRED] * SIZE_MAX
        assert set(codes[SIZE_MAX:]) == {ErrorCode.GROUP_MAX_SIZE_REACHED}
        bystander.wait_for_more()


def test_a_crowd_of_groups_is_bounded_too(scene: Scene, client: RawConnection) -> None:
    with scene.attack() as bystander:
        frames = [frame_of(join(f"crowd-{number}"), JOIN_VERSION) for number in range(GROUPS)]
        codes = codes_of(client, frames)
        assert set(codes) <= {ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.COORDINATOR_NOT_AVAILABLE}
        bystander.wait_for_more()


def test_a_text_beside_an_offset_is_4096_bytes_at_most(scene: Scene, client: RawConnection) -> None:
    with scene.attack():
        assert committed(client, commit("texts", "x" * 4_096)) == ErrorCode.NONE
        too_long = commit("texts", "x" * 32_767)
        assert committed(client, too_long) == ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_a_text_of_a_mebibyte_closes_the_connection(scene: Scene, client: RawConnection) -> None:
    frame = frame_of(commit("texts", "short"), 8)
    text, long_text = b"\x06short", b"\x81\x80\x40" + b"x" * (1 << 20)
    with scene.attack():
        body = frame[4:].replace(text, long_text)
        client.send(body)
        assert client.is_cut_off()


def test_nobody_commits_in_a_group_without_being_a_member_of_it(
    scene: Scene, client: RawConnection
) -> None:
    with scene.attack():
        first = client.ask(join("others"), JOIN_VERSION, JoinGroupResponse)
        member_id = first.member_id
        joined = client.ask(join("others", member_id=member_id), JOIN_VERSION, JoinGroupResponse)
        assert joined.error_code == ErrorCode.NONE
        stranger = scene.connect()
        assert committed(stranger, commit("others", "")) == ErrorCode.UNKNOWN_MEMBER_ID
        assert committed(stranger, commit("others", "", "x")) == ErrorCode.UNKNOWN_MEMBER_ID
