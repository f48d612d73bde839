"""JoinGroup v0-9.

* The reply comes when the next generation begins: when everyone has joined, or after the rebalance
  timeout, which in v0 is the session timeout.
* v4 and later: whoever has no id is given one with MEMBER_ID_REQUIRED, and joins again.
* v5 adds static members. One that is back in another process takes its former place; from v9 on
  a leader is told so with skip_assignment, before that it is told of its former id as the leader.
* The reason (v8) is not looked at. We never throttle.
"""

from functools import partial

from riverlog.groups.decision import Joined, Refused, Reply
from riverlog.groups.errors import GroupError
from riverlog.groups.members import Profile
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import code_of
from riverlog.kafka.later import Later
from riverlog.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)

_REBALANCE_TIMEOUT_FROM = 1
_IDS_FIRST_FROM = 4
_NULL_PROTOCOL_FROM = 7
_SKIPS_FROM = 9


def handle(request: JoinGroupRequest, context: Context) -> Answer:
    later = Later()
    has_timeout = context.version >= _REBALANCE_TIMEOUT_FROM
    session_timeout_ms = request.session_timeout_ms
    profile = Profile(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=context.client_id or "",
        client_host=f"/{context.client_host}",
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_timeout else session_timeout_ms,
        protocols=tuple((each.name, bytes(each.metadata)) for each in request.protocols),
    )
    try:
        context.broker.coordinator.join(
            request.group_id,
            profile,
            request.protocol_type,
            partial(_told, later, context.version),
            returns_with_id=context.version >= _IDS_FIRST_FROM,
        )
    except GroupError as error:
        return _refused(request.member_id, error, context.version)
    return later


def _told(later: Later, version: int, reply: Reply) -> None:
    if isinstance(reply, Refused):
        later.finish(_refused(reply.member_id, reply.error, version))
        return
    assert isinstance(reply, Joined), "whoever joins is told of a generation"
    is_leader = reply.leader_id == reply.member_id
    leader_id, members = reply.leader_id, reply.members
    if is_leader and reply.replaces is not None and version < _SKIPS_FROM:
        # It must not share out the work anew, and would if it were the leader.
        leader_id, members = reply.replaces, ()
    later.finish(
        JoinGroupResponse(
            generation_id=reply.generation,
            protocol_type=reply.protocol_type,
            protocol_name=reply.protocol,
            leader=leader_id,
            skip_assignment=is_leader and reply.replaces is not None,
            member_id=reply.member_id,
            members=[
                JoinGroupResponseMember(
                    member_id=member_id, group_instance_id=instance_id, metadata=metadata
                )
                for member_id, instance_id, metadata in members
            ],
        )
    )


def _refused(member_id: str, error: GroupError, version: int) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=code_of(error),
        protocol_name=None if version >= _NULL_PROTOCOL_FROM else "",
        leader="",
        member_id=member_id,
        members=[],
    )
