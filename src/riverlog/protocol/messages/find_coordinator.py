"""FindCoordinator (key 10), versions 0 to 6."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int8, int16, int32, message, string, struct


@message(key=10, versions="0-6", flexible="3+")
class FindCoordinatorRequest:
    key: str = string("0-3", default="")
    key_type: int = int8("1+", default=0)
    coordinator_keys: Sequence[str] = array(string, "4+", default=())


@struct
class Coordinator:
    key: str = string("4+", default="")
    node_id: int = int32("4+", default=0)
    host: str = string("4+", default="")
    port: int = int32("4+", default=0)
    error_code: int = int16("4+", default=0)
    error_message: str | None = string("4+", nullable="4+", default=None)


@message(key=10, versions="0-6", flexible="3+")
class FindCoordinatorResponse:
    throttle_time_ms: int = int32("1+", default=0)
    error_code: int = int16("0-3", default=0)
    error_message: str | None = string("1-3", nullable="1-3", default=None)
    node_id: int = int32("0-3", default=0)
    host: str = string("0-3", default="")
    port: int = int32("0-3", default=0)
    coordinators: Sequence[Coordinator] = array(Coordinator, "4+", default=())
