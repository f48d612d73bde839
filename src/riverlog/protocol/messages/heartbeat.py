"""Heartbeat (key 12), versions 0 to 4."""

from riverlog.protocol.schema import int16, int32, message, string


@message(key=12, versions="0-4", flexible="4+")
class HeartbeatRequest:
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string("3+", nullable="3+", default=None)


@message(key=12, versions="0-4", flexible="4+")
class HeartbeatResponse:
    throttle_time_ms: int = int32("1+", default=0)
    error_code: int = int16(default=0)
