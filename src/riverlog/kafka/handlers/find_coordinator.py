"""FindCoordinator v0-6.

* There is one broker, and it coordinates every group; the topic that groups are kept in is made by
  the first who asks.
* v0 is served because librdkafka takes it for the sign that a broker knows lz4.
* A transactional id is sent here too: InitProducerId then says that transactions are not served.
  Share groups (v6) are not served: INVALID_REQUEST.
* v4 asks for many at once. We never throttle.
"""

from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import ANSWERABLE, message_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_GROUP, _TRANSACTION = 0, 1
_BATCHED_FROM = 4


def handle(request: FindCoordinatorRequest, context: Context) -> Answer:
    if request.key_type not in (_GROUP, _TRANSACTION):
        message = f"coordinators of kind {request.key_type} are not served here"
        return _response(request, context, ErrorCode.INVALID_REQUEST, message)
    if request.key_type == _GROUP and not context.broker.coordinator.is_prepared:
        return _prepare(request, context)
    return _response(request, context)


async def _prepare(request: FindCoordinatorRequest, context: Context) -> FindCoordinatorResponse:
    try:
        await context.broker.coordinator.prepare()
    except ANSWERABLE as error:
        return _response(request, context, ErrorCode.COORDINATOR_NOT_AVAILABLE, message_of(error))
    return _response(request, context)


def _response(
    request: FindCoordinatorRequest,
    context: Context,
    error: ErrorCode = ErrorCode.NONE,
    message: str | None = None,
) -> FindCoordinatorResponse:
    if error == ErrorCode.NONE:
        address = context.advertised
        node_id, host, port = context.broker.node_id, address.host, address.port
    else:
        node_id, host, port = -1, "", -1
    if context.version < _BATCHED_FROM:
        return FindCoordinatorResponse(
            error_code=error, error_message=message, node_id=node_id, host=host, port=port
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key,
                node_id=node_id,
                host=host,
                port=port,
                error_code=error,
                error_message=message,
            )
            for key in request.coordinator_keys
        ]
    )
