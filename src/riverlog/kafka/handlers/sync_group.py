"""SyncGroup v0-5.

* The reply comes when the leader has shared out the work, and that is durable.
* v3 adds static members; v5 the protocol, which must be named, is checked, and told.
* A member that the leader gives nothing to gets an empty assignment. We never throttle.
"""

from functools import partial

from riverlog.groups.attending import Caller, Sync
from riverlog.groups.decision import Refused, Reply, Synced
from riverlog.groups.errors import GroupError, InconsistentProtocol
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import code_of
from riverlog.kafka.later import Later
from riverlog.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_PROTOCOL_FROM = 5


def handle(request: SyncGroupRequest, context: Context) -> Answer:
    if context.version >= _PROTOCOL_FROM and None in (request.protocol_type, request.protocol_name):
        return _refused(InconsistentProtocol("a member says which protocol it means"))
    later = Later()
    asked = Sync(
        Caller(request.member_id, request.group_instance_id, request.generation_id),
        request.protocol_type,
        request.protocol_name,
        {each.member_id: bytes(each.assignment) for each in request.assignments},
    )
    try:
        context.broker.coordinator.sync(request.group_id, asked, partial(_told, later))
    except GroupError as error:
        return _refused(error)
    return later


def _told(later: Later, reply: Reply) -> None:
    if isinstance(reply, Refused):
        later.finish(_refused(reply.error))
        return
    assert isinstance(reply, Synced), "whoever asks for a share is told of one"
    later.finish(
        SyncGroupResponse(
            protocol_type=reply.protocol_type,
            protocol_name=reply.protocol,
            assignment=reply.assignment,
        )
    )


def _refused(error: GroupError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code_of(error), assignment=b"")
