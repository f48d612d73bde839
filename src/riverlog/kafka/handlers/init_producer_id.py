"""InitProducerId v0-5.

* An idempotent producer gets an id that nobody ever had, at epoch 0. So does one that names the id
  it had before (v3 and later): its earlier batches stay apart from those to come.
* Transactions are not served. A transactional id is answered with
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: of the errors that every client takes for final at once
  it is the one that says what is refused. An empty one is INVALID_REQUEST.
* When the disk fails, COORDINATOR_LOAD_IN_PROGRESS has every client ask again.
"""

from riverlog.kafka.apis import Context
from riverlog.log.errors import StorageFailed
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

_NONE = -1


async def handle(request: InitProducerIdRequest, context: Context) -> InitProducerIdResponse:
    if request.transactional_id == "":
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        return _refused(ErrorCode.INVALID_REQUEST)
    try:
        producer_id = await context.broker.new_producer_id()
    except StorageFailed:
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=_NONE)
