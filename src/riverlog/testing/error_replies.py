"""A reply that refuses a whole request with one error code, for any API, made from its tables.

Replies repeat what they answer for: topics, partitions, groups. So each list in the reply is made
from the list in the request that stands in the same place, and every code in it is set.
"""

from collections.abc import Sequence
from typing import Any

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.schema import Field

MESSAGE = "a test asked for this error"

_CODES = ("error_code", "partition_error_code")
_REPEATED = frozenset({"string", "uuid", "int8", "int32"})
# The same thing has two names in a request and its reply.
_OTHER_NAMES = {"partition_index": "partition", "user": "name"}

# Replies that clients cannot read without what else stands in them: brokers, versions.
DESCRIPTIONS = frozenset(
    {
        ApiKey.API_VERSIONS,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.METADATA,
    }
)

# Where the code of the whole reply has a meaning of its own, only these may stand there.
HEAD_CODES: dict[int, frozenset[ErrorCode]] = {
    ApiKey.FETCH: frozenset(
        {
            ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
            ErrorCode.INVALID_FETCH_SESSION_EPOCH,
            ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        }
    ),
    ApiKey.METADATA: frozenset({ErrorCode.REBOOTSTRAP_REQUIRED}),
}


def refusal(key: ApiKey, request: Any, version: int, code: ErrorCode) -> Any | None:
    """The reply that refuses `request`; None when there is no place in it for an error."""
    _, response = tables(key)
    reply = _made(response, request, version, code, is_head=True)
    _set_head(key, reply, version, code)
    return reply if _has_code(reply, version) else None


def with_error(key: ApiKey, reply: Any, version: int, code: ErrorCode) -> Any | None:
    """A reply as it would have been, but with the error in it; None when it has no place for one.

    What was asked about is still named, and nothing more is told of it.
    """
    for field in _fields(reply, version):
        if _bears_code(field, version):
            for item in getattr(reply, field.name) or ():
                _refuse(item, version, code)
    _set_head(key, reply, version, code)
    return reply if _has_code(reply, version) else None


def _made(cls: Any, asked: Any, version: int, code: ErrorCode, *, is_head: bool = False) -> Any:
    """One struct of the reply to what was asked, every code in it and below it set."""
    values: dict[str, Any] = {}
    for field in cls.FIELDS:
        if field.name in _CODES:
            values[field.name] = code
        elif field.name == "error_message":
            values[field.name] = MESSAGE
        elif version in field.versions and _bears_code(field, version):
            items = _asked_items(asked, version)
            values[field.name] = [_made(field.of, item, version, code) for item in items]
        elif field.kind in (("string",) if is_head else _REPEATED):
            values[field.name] = _repeated(field, cls, asked)
        else:
            values[field.name] = _nothing(field)
    return cls(**values)


def _repeated(field: Field, cls: Any, asked: Any) -> Any:
    """What the request says of this field, or else what stands for nothing."""
    if not hasattr(type(asked), "FIELDS"):
        named = (one for one in cls.FIELDS if one.kind in _REPEATED and not _is_code(one))
        return asked if field is next(named) else _nothing(field)
    for name in (field.name, _OTHER_NAMES.get(field.name)):
        if name is not None and hasattr(asked, name):
            return getattr(asked, name)
    return _nothing(field)


def _nothing(field: Field) -> Any:
    if field.kind == "records":
        return b""
    return -1 if field.kind == "int64" and field.is_required else field.default


def _is_code(field: Field) -> bool:
    return field.name in _CODES or field.name == "error_message"


def _asked_items(asked: Any, version: int) -> Sequence[Any]:
    for field in getattr(type(asked), "FIELDS", ()):
        if field.kind == "array" and version in field.versions:
            return getattr(asked, field.name) or ()
    return ()


def _refuse(item: Any, version: int, code: ErrorCode) -> None:
    for field in _fields(item, version):
        if field.name in _CODES:
            setattr(item, field.name, code)
        elif field.name == "error_message":
            setattr(item, field.name, MESSAGE)
        elif _bears_code(field, version):
            setattr(item, field.name, ())


def _set_head(key: ApiKey, reply: Any, version: int, code: ErrorCode) -> None:
    """Sets the code of the whole reply, if it has one, unless this code may not stand there."""
    if any(field.name == "error_code" for field in _fields(reply, version)):
        is_allowed = code in HEAD_CODES.get(key, (code,))
        reply.error_code = code if is_allowed else ErrorCode.NONE


def _has_code(message: Any, version: int) -> bool:
    return any(
        any(_has_code(item, version) for item in getattr(message, field.name) or ())
        if _bears_code(field, version)
        else field.name in _CODES and bool(getattr(message, field.name))
        for field in _fields(message, version)
    )


def _fields(message: Any, version: int) -> list[Field]:
    return [field for field in type(message).FIELDS if version in field.versions]


def _bears_code(field: Field, version: int) -> bool:
    """Whether this is a list of structs with error codes in them or below them."""
    if field.kind != "array" or not hasattr(field.of, "FIELDS"):
        return False
    return any(
        version in inner.versions and (inner.name in _CODES or _bears_code(inner, version))
        for inner in field.of.FIELDS
    )
