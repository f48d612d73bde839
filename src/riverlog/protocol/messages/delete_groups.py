"""DeleteGroups (key 42), versions 0 to 2."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, message, string, struct


@message(key=42, versions="0-2", flexible="2+")
class DeleteGroupsRequest:
    groups_names: Sequence[str] = array(string)


@struct
class DeletableGroupResult:
    group_id: str = string()
    error_code: int = int16(default=0)


@message(key=42, versions="0-2", flexible="2+")
class DeleteGroupsResponse:
    throttle_time_ms: int = int32(default=0)
    results: Sequence[DeletableGroupResult] = array(DeletableGroupResult)
