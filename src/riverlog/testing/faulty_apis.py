"""How a request is answered by an API with faults."""

import asyncio
from collections.abc import Coroutine, Sequence
from copy import copy
from typing import Any

from riverlog.kafka.apis import Answer, Api, Context
from riverlog.kafka.later import HangUp, Later
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.error_replies import DESCRIPTIONS, HEAD_CODES, refusal, with_error
from riverlog.testing.fault import Fault, end


def faulty_api(api: Api, faults: Sequence[Fault]) -> Api:
    """The same API, with these faults."""

    def handle(request: Any, context: Context) -> Answer:
        due = [fault for fault in faults if fault.is_due]
        for fault in due:
            if fault.hangs_up_before:
                fault.struck += 1
                raise HangUp
        refusing = next((fault for fault in due if fault.error), None)
        late = [fault for fault in due if fault.delay_ms or fault.hangs_up_after]
        answer: Answer = None
        if refusing is not None and api.key not in DESCRIPTIONS:
            answer, refusing = _refused(refusing, request, context.version), None
        if answer is None:
            answer = api.handle(request, context)
        for fault in late:
            fault.struck += 1
        if answer is None and any(fault.hangs_up_after for fault in late):
            raise HangUp
        if answer is None or not (late or refusing):
            return answer
        return _finished(answer, context.version, late, refusing)

    faulty = copy(api)
    faulty.handle = handle
    faulty.handle_frame = None
    return faulty


def _refused(fault: Fault, request: Any, version: int) -> Any | None:
    """The reply that refuses a request, before anything is done; None when none can."""
    if fault.key is ApiKey.PRODUCE and request.acks == 0:
        fault.struck += 1
        raise HangUp
    if (
        fault.key is ApiKey.FETCH
        and request.session_id
        and fault.error not in HEAD_CODES[fault.key]
    ):
        # It names only what changed since the last one. Without its session, the client names
        # every partition in its next request, and that one can be refused.
        return refusal(fault.key, request, version, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    reply = refusal(fault.key, request, version, fault.error)
    fault.struck += reply is not None
    return reply


async def _finished(
    answer: Answer, version: int, late: Sequence[Fault], refusing: Fault | None
) -> Any:
    """The answer when it is there, changed by the faults that do so, and as late as they say."""
    if isinstance(answer, Later):
        answer = await _told(answer)
    elif isinstance(answer, Coroutine):
        answer = await answer
    if refusing is not None and refusing.is_due:
        changed = with_error(refusing.key, answer, version, refusing.error)
        if changed is not None:
            refusing.struck += 1
    await _pause(late)
    if any(fault.hangs_up_after for fault in late):
        raise HangUp
    return answer


async def _pause(late: Sequence[Fault]) -> None:
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(sum(fault.delay_ms for fault in late) / 1000, end, over)
    for fault in late:
        fault.waiting.add(over)
    try:
        await over
    finally:
        timer.cancel()
        for fault in late:
            fault.waiting.remove(over)


async def _told(later: Later) -> Any:
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    if later.is_done:
        return later.answer
    # Nobody waits any more for a client that is gone.
    later.tell(lambda answer: None if told.done() else told.set_result(answer))
    return await told
