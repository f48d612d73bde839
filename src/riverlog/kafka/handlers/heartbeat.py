"""Heartbeat v0-4.

* REBALANCE_IN_PROGRESS tells a member to join again; it counts as heard of all the same.
* v1 adds throttle_time_ms; we never throttle, so it is always 0.
* v3 adds group_instance_id; a static member is looked up by it first.
"""

from riverlog.groups.attending import Caller
from riverlog.groups.errors import GroupError
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import code_of
from riverlog.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(request: HeartbeatRequest, context: Context) -> HeartbeatResponse:
    caller = Caller(request.member_id, request.group_instance_id, request.generation_id)
    try:
        context.broker.coordinator.heartbeat(request.group_id, caller)
    except GroupError as error:
        return HeartbeatResponse(error_code=code_of(error))
    return HeartbeatResponse()
