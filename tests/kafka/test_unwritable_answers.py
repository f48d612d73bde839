"""An answer that does not fit into its message is our own mistake: only its connection ends."""

from typing import Any

import pytest

import riverlog
from riverlog.kafka.handlers import delete_topics
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from riverlog.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from tests.conformance.clients.raw_connection import connected

TOO_LONG = "x" * 40_000


async def answer_at_length(*_: Any) -> DeleteTopicsResponse:  # whatever a handler is given
    return DeleteTopicsResponse(responses=[DeletableTopicResult(name=TOO_LONG)])


def test_a_late_answer_that_cannot_be_written_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delete_topics, "handle", answer_at_length)
    request = DeleteTopicsRequest(topics=[], timeout_ms=1)
    with (
        riverlog.Broker() as broker,
        connected(broker.address) as victim,
        connected(broker.address) as other,
    ):
        victim.send(b"".join(request_frame(request, 6, 1, None))[4:])

        assert victim.receive() is None
        assert other.ask(ApiVersionsRequest(), 0, ApiVersionsResponse).error_code == 0
