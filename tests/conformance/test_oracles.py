"""Our bytes are those of kio and of kafka-python, for every message and version they know."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode as KioErrorCode

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import decode, encode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.headers import (
    read_client_id,
    read_response,
    read_start,
    request_frame,
    response_header,
)
from tests.conformance.oracles import KAFKA_PYTHON, KIO, Oracle, differences
from tests.protocol.strategies import PAIRS, PRIMITIVES, STRINGS, messages

SHARED = [
    (oracle, cls, version)
    for oracle in (KIO, KAFKA_PYTHON)
    for cls, version in PAIRS
    if oracle.theirs(cls, version) is not None
]
every_shared_pair = pytest.mark.parametrize(
    ("oracle", "cls", "version"),
    SHARED,
    ids=[f"{oracle.name}-{cls.__name__}-v{version}" for oracle, cls, version in SHARED],
)


@pytest.mark.parametrize("oracle", [KIO, KAFKA_PYTHON], ids=lambda oracle: oracle.name)
def test_an_oracle_shares_every_version_with_us(oracle: Oracle) -> None:
    shared = [version for other, _, version in SHARED if other is oracle]
    # An update of the library that drops versions should be seen, not silently test less.
    assert len(shared) >= 432


@every_shared_pair
@settings(max_examples=5, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_an_oracle_reads_and_writes_the_same_bytes(
    oracle: Oracle, cls: Any, version: int, data: st.DataObject
) -> None:
    message = data.draw(messages(cls, version, oracle.narrow))
    ours = encode(message, version)

    theirs = oracle.read(oracle.theirs(cls, version), version, ours)
    returned = oracle.write(theirs, version)

    assert returned == ours
    assert differences(message, theirs, version) == []
    assert decode(cls, version, returned) == message


@every_shared_pair
@settings(max_examples=2, derandomize=True, deadline=None, database=None)
@given(data=st.data(), correlation_id=PRIMITIVES["int32"], client_id=st.none() | STRINGS)
def test_an_oracle_writes_the_same_header(
    oracle: Oracle,
    cls: Any,
    version: int,
    data: st.DataObject,
    correlation_id: int,
    client_id: str | None,
) -> None:
    message = data.draw(messages(cls, version, oracle.narrow))
    body = encode(message, version)
    their_message = oracle.read(oracle.theirs(cls, version), version, body)
    theirs = oracle.write_with_header(their_message, version, correlation_id, client_id)
    request: Any
    request, response = tables(ApiKey(cls.API_KEY))
    is_flexible = version in cls.FLEXIBLE

    if cls is request:
        assert b"".join(request_frame(message, version, correlation_id, client_id)[1:]) == theirs
        assert read_start(theirs) == (cls.API_KEY, version, correlation_id)
        assert read_client_id(theirs, is_flexible) == (client_id, len(theirs) - len(body))
    else:
        assert response_header(cls.API_KEY, correlation_id, is_flexible) + body == theirs
        assert read_response(request, version, theirs, response) == (correlation_id, message)


def test_error_codes_are_kios_by_number_and_name() -> None:
    ours = {code.value: code.name for code in ErrorCode}
    assert ours == {int(code.value): code.name.upper() for code in KioErrorCode}
