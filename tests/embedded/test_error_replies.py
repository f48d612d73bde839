"""A reply that refuses a request, for every API and version we have tables for."""

from typing import Any

import pytest

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import decode, encode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.error_replies import DESCRIPTIONS, refusal, with_error

CODE = ErrorCode.POLICY_VIOLATION

# Replies that say nothing of an error unless something was found to describe.
SILENT = {(ApiKey.DESCRIBE_LOG_DIRS, version) for version in range(3)}
VERSIONS = [
    (key, version)
    for key in ApiKey
    for version in range(tables(key)[0].VERSIONS.first, tables(key)[0].VERSIONS.last + 1)  # type: ignore[attr-defined]  # a table
    if (key, version) not in SILENT
]


def filled(cls: Any, version: int) -> Any:
    """A message with one of everything in it."""
    return cls(**{field.name: _value(field, version) for field in cls.FIELDS})


def _value(field: Any, version: int) -> Any:
    if field.kind == "array":
        if hasattr(field.of, "FIELDS"):
            return [filled(field.of, version)]
        return ["name"] if field.of().kind == "string" else [3]
    if field.kind == "structure":
        return filled(field.of, version)
    examples = {"string": "name", "uuid": b"u" * 16, "data": b"data", "records": b"", "int32": 3}
    return examples.get(field.kind, field.default)


def codes_in(message: Any, version: int) -> list[int]:
    """Every error code in a message."""
    found: list[int] = []
    for field in type(message).FIELDS:
        if version in field.versions:
            value = getattr(message, field.name)
            if field.name in ("error_code", "partition_error_code"):
                found.append(value)
            elif field.kind == "array" and hasattr(field.of, "FIELDS"):
                for item in value or ():
                    found += codes_in(item, version)
    return found


@pytest.mark.parametrize(
    ("key", "version"), VERSIONS, ids=lambda value: getattr(value, "name", value)
)
def test_a_refusal_can_be_sent_and_says_the_error(key: ApiKey, version: int) -> None:
    request_class, response_class = tables(key)
    if key in DESCRIPTIONS:
        reply = with_error(key, filled(response_class, version), version, CODE)
    else:
        reply = refusal(key, filled(request_class, version), version, CODE)
    assert reply is not None
    read: Any = decode(response_class, version, encode(reply, version))
    assert CODE in codes_in(read, version)


@pytest.mark.parametrize("key", [ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT])
def test_a_refusal_repeats_what_was_asked_about(key: ApiKey) -> None:
    request_class, _ = tables(key)
    reply: Any = refusal(key, filled(request_class, 9), 9, CODE)
    (topic,) = getattr(reply, "responses", None) or reply.topics
    assert getattr(topic, "name", None) or topic.topic == "name"
    (partition,) = getattr(topic, "partition_responses", None) or topic.partitions
    assert getattr(partition, "index", None) or partition.partition_index == 3
    assert partition.error_code == CODE


def test_the_head_of_a_fetch_reply_tells_of_its_session_only() -> None:
    request = filled(tables(ApiKey.FETCH)[0], 12)
    of_partitions: Any = refusal(ApiKey.FETCH, request, 12, CODE)
    assert of_partitions.error_code == 0
    of_session: Any = refusal(ApiKey.FETCH, request, 12, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert of_session.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
