"""One request answered apart from its connection's order: somebody else keeps that."""

from collections.abc import Callable
from typing import Any

from riverlog.kafka.apis import Apis
from riverlog.kafka.later import Later
from riverlog.kafka.replies import Callers, Reply
from riverlog.protocol.headers import START_BYTES, read_start, response_header


def answer_apart(apis: Apis, callers: Callers, frame: bytes, told: Callable[[bytes], None]) -> None:
    """Answers a request of an API that is served, and tells the reply, a whole frame, to `told`.

    What the handler raises goes to the caller, and nothing is told then.
    """
    key, version, correlation_id = read_start(frame)
    codecs = apis[key].codecs(version)
    assert codecs is not None, "the version is served"
    request_codec, response_codec, is_flexible = codecs
    caller = callers.of(frame, version, is_flexible)
    reply = Reply(0, response_header(key, correlation_id, is_flexible), response_codec)

    def finish(answer: Any) -> None:
        reply.complete(answer)
        told(b"".join(reply.parts or []))

    request = request_codec.decode(frame, START_BYTES + len(caller.header))
    answer = apis[key].handle(request, caller.context)
    if isinstance(answer, Later) and not answer.is_done:
        answer.tell(finish)
    else:
        finish(answer.answer if isinstance(answer, Later) else answer)
