"""ListGroups v0-5.

* v4 filters by state, v5 by type; upper and lower case are the same. All groups here are classic.
* While committed offsets are being read after a start: COORDINATOR_LOAD_IN_PROGRESS.
* We never throttle.
"""

from riverlog.groups.errors import GroupError
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import code_of
from riverlog.protocol.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)

_CLASSIC = "classic"


def handle(request: ListGroupsRequest, context: Context) -> ListGroupsResponse:
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    try:
        groups = list(context.broker.coordinator.all_groups())
    except GroupError as error:
        return ListGroupsResponse(error_code=code_of(error), groups=[])
    if types and _CLASSIC not in types:
        groups = []
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state.value,
                group_type=_CLASSIC,
            )
            for group in groups
            if not states or group.state.value.lower() in states
        ]
    )
