"""DeleteTopics (key 20), versions 1 to 6."""

from collections.abc import Sequence

from riverlog.protocol.schema import ZERO_UUID, array, int16, int32, message, string, struct, uuid


@struct
class DeleteTopicState:
    name: str | None = string("6+", nullable="6+", default=None)
    topic_id: bytes = uuid("6+", default=ZERO_UUID)


@message(key=20, versions="1-6", flexible="4+")
class DeleteTopicsRequest:
    topics: Sequence[DeleteTopicState] = array(DeleteTopicState, "6+", default=())
    topic_names: Sequence[str] = array(string, "0-5", default=())
    timeout_ms: int = int32()


@struct
class DeletableTopicResult:
    name: str | None = string(nullable="6+")
    topic_id: bytes = uuid("6+", default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string("5+", nullable="5+", default=None)


@message(key=20, versions="1-6", flexible="4+")
class DeleteTopicsResponse:
    throttle_time_ms: int = int32(default=0)
    responses: Sequence[DeletableTopicResult] = array(DeletableTopicResult)
