"""DescribeGroups (key 15), versions 0 to 6."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, boolean, data, int16, int32, message, string, struct


@message(key=15, versions="0-6", flexible="5+")
class DescribeGroupsRequest:
    groups: Sequence[str] = array(string)
    include_authorized_operations: bool = boolean("3+", default=False)


@struct
class DescribedGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string("4+", nullable="4+", default=None)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = data()
    member_assignment: bytes = data()


@struct
class DescribedGroup:
    error_code: int = int16(default=0)
    error_message: str | None = string("6+", nullable="6+", default=None)
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: Sequence[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = int32("3+", default=-(2**31))


@message(key=15, versions="0-6", flexible="5+")
class DescribeGroupsResponse:
    throttle_time_ms: int = int32("1+", default=0)
    groups: Sequence[DescribedGroup] = array(DescribedGroup)
