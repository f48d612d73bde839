"""Whether anything else could still run in this turn of the loop."""

import asyncio

from riverlog.runtime.turns import call_patiently, is_last_of_turn


async def test_nothing_waits_but_the_caller() -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    assert is_last_of_turn(loop, own=0)
    loop.call_soon(lambda: None)
    assert is_last_of_turn(loop, own=1)


async def test_another_callback_is_another_reason_to_wait() -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    loop.call_soon(lambda: None)
    loop.call_soon(lambda: None)
    assert not is_last_of_turn(loop, own=1)


async def test_what_is_patient_is_no_reason_to_wait_and_runs_after_the_others() -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    ran: list[str] = []
    is_over: asyncio.Future[None] = loop.create_future()

    def come_in() -> None:
        ran.append("other")
        ran.append(f"last: {is_last_of_turn(loop, own=0)}")
        loop.call_soon(ran.append, "third")
        ran.append(f"last: {is_last_of_turn(loop, own=0)}")

    def be_patient() -> None:
        ran.append("patient")
        is_over.set_result(None)

    call_patiently(loop, be_patient)
    loop.call_soon(come_in)
    await is_over
    assert ran == ["other", "last: True", "last: False", "patient", "third"]
    assert is_last_of_turn(loop, own=0)
