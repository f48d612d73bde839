"""DescribeGroups v0-6.

* Who names a group twice is told of it once, where Kafka repeats it: a reply is no larger than what
  is known of groups.
* A group that nobody knows is Dead; v6 and later say GROUP_ID_NOT_FOUND too.
* What members told each other, and their shares, are told of a stable group alone, as Kafka does.
* Who asks for authorized operations (v3 and later) hears of all: there is no authorization yet.
* We never throttle.
"""

from riverlog.groups.errors import GroupError
from riverlog.groups.group import Group, State
from riverlog.kafka.apis import Context
from riverlog.kafka.authorized_operations import ALL_OF_GROUP
from riverlog.kafka.errors import code_of, message_of, shortened
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_NOT_FOUND_FROM = 6


def handle(request: DescribeGroupsRequest, context: Context) -> DescribeGroupsResponse:
    groups = [_describe(each, context) for each in dict.fromkeys(request.groups)]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ALL_OF_GROUP
    return DescribeGroupsResponse(groups=groups)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    try:
        group = context.broker.coordinator.find(group_id)
    except GroupError as error:
        return _nothing(group_id, code_of(error), message_of(error), "")
    if group is None:
        code, message = ErrorCode.NONE, None
        if context.version >= _NOT_FOUND_FROM:
            code, message = ErrorCode.GROUP_ID_NOT_FOUND, shortened(f"Group {group_id} not found.")
        return _nothing(group_id, code, message, State.DEAD.value)
    is_stable = group.state is State.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type,
        protocol_data=(group.protocol or "") if is_stable else "",
        members=_members(group, is_stable),
    )


def _members(group: Group, is_stable: bool) -> list[DescribedGroupMember]:
    return [
        DescribedGroupMember(
            member_id=member.profile.member_id,
            group_instance_id=member.profile.instance_id,
            client_id=member.profile.client_id,
            client_host=member.profile.client_host,
            member_metadata=member.profile.metadata_for(group.protocol) if is_stable else b"",
            member_assignment=member.assignment if is_stable else b"",
        )
        for member in group.members
    ]


def _nothing(group_id: str, code: ErrorCode, message: str | None, state: str) -> DescribedGroup:
    return DescribedGroup(
        error_code=code,
        error_message=message,
        group_id=group_id,
        group_state=state,
        protocol_type="",
        protocol_data="",
        members=[],
    )
