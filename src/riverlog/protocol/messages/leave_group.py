"""LeaveGroup (key 13), versions 0 to 5."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, message, string, struct


@struct
class MemberIdentity:
    member_id: str = string("3+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    reason: str | None = string("5+", nullable="5+", default=None)


@message(key=13, versions="0-5", flexible="4+")
class LeaveGroupRequest:
    group_id: str = string()
    member_id: str = string("0-2", default="")
    members: Sequence[MemberIdentity] = array(MemberIdentity, "3+", default=())


@struct
class MemberResponse:
    member_id: str = string("3+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default="")
    error_code: int = int16("3+", default=0)


@message(key=13, versions="0-5", flexible="4+")
class LeaveGroupResponse:
    throttle_time_ms: int = int32("1+", default=0)
    error_code: int = int16(default=0)
    members: Sequence[MemberResponse] = array(MemberResponse, "3+", default=())
