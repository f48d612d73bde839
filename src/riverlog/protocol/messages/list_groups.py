"""ListGroups (key 16), versions 0 to 5."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, message, string, struct


@message(key=16, versions="0-5", flexible="3+")
class ListGroupsRequest:
    states_filter: Sequence[str] = array(string, "4+", default=())
    types_filter: Sequence[str] = array(string, "5+", default=())


@struct
class ListedGroup:
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string("4+", default="")
    group_type: str = string("5+", default="")


@message(key=16, versions="0-5", flexible="3+")
class ListGroupsResponse:
    throttle_time_ms: int = int32("1+", default=0)
    error_code: int = int16(default=0)
    groups: Sequence[ListedGroup] = array(ListedGroup)
