"""LeaveGroup v0-5.

* v3 and later let several members go at once, each with its own error; a static one may be named
  by its instance alone, as tools do that remove it.
* The reason (v5) is not looked at. We never throttle.
"""

from riverlog.groups.errors import (
    CoordinatorLoading,
    CoordinatorUnavailable,
    GroupError,
    InvalidGroupId,
)
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import code_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)

_MANY_FROM = 3

# What concerns the group as a whole, and not one of its members.
_OF_THE_GROUP = (CoordinatorLoading, CoordinatorUnavailable, InvalidGroupId)


def handle(request: LeaveGroupRequest, context: Context) -> LeaveGroupResponse:
    coordinator = context.broker.coordinator
    if context.version < _MANY_FROM:
        try:
            coordinator.leave(request.group_id, request.member_id, None)
        except GroupError as error:
            return LeaveGroupResponse(error_code=code_of(error))
        return LeaveGroupResponse()
    members = []
    for member in request.members:
        code = ErrorCode.NONE
        try:
            coordinator.leave(request.group_id, member.member_id, member.group_instance_id)
        except _OF_THE_GROUP as error:
            return LeaveGroupResponse(error_code=code_of(error), members=[])
        except GroupError as error:
            code = code_of(error)
        members.append(
            MemberResponse(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                error_code=code,
            )
        )
    return LeaveGroupResponse(members=members)
