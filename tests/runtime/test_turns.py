"""Whether anything else could still run in this turn of the loop."""

import asyncio

from riverlog.runtime.turns import is_last_of_turn


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
