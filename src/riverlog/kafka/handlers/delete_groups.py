"""DeleteGroups v0-2.

* That a group and its offsets are gone is durable before the reply; one failure hinders no other.
* We never throttle.
"""

from functools import partial

from riverlog.groups.errors import GroupError
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import code_of
from riverlog.kafka.later import Later
from riverlog.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(request: DeleteGroupsRequest, context: Context) -> Answer:
    later = Later()
    results = [
        DeletableGroupResult(group_id=group_id) for group_id in dict.fromkeys(request.groups_names)
    ]
    # One more, so that the last of them finishes, and also a request for none.
    left = len(results) + 1

    def written(result: DeletableGroupResult | None, error: GroupError | None) -> None:
        nonlocal left
        if result is not None and error is not None:
            result.error_code = code_of(error)
        left -= 1
        if not left:
            later.finish(DeleteGroupsResponse(results=results))

    for result in results:
        try:
            context.broker.coordinator.delete(result.group_id, partial(written, result))
        except GroupError as error:
            written(result, error)
    written(None, None)
    return later
