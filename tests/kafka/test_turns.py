"""Turns at the loop: slices for those who ask much at once, rest for what takes long."""

import asyncio

from riverlog.kafka.turns import (
    ABOUT_S,
    BRIEF_S,
    HEAVY_BYTES,
    LONE_SLICE_S,
    LONG_OPENING_S,
    REST_FACTOR,
    REST_S_MAX,
    SLICE_S,
    Pace,
    Turns,
    is_heavy,
)
from riverlog.runtime.turns import is_last_of_turn

METADATA, FETCH, PRODUCE = b"\0\3", b"\0\1", b"\0\0"
LARGE = bytes(HEAVY_BYTES)


def test_whoever_is_alone_has_a_longer_turn() -> None:
    turns = Turns()
    assert turns.begin("alice", 100) == 100 + LONE_SLICE_S
    assert turns.begin("alice", 101) == 101 + LONE_SLICE_S


def test_while_others_are_about_turns_are_short() -> None:
    turns = Turns()
    turns.begin("alice", 100)
    assert turns.begin("bob", 100.5) == 100.5 + SLICE_S
    assert turns.begin("alice", 100.6) == 100.6 + SLICE_S
    later = 100.6 + ABOUT_S
    assert turns.begin("alice", later) == later + LONE_SLICE_S


def test_heavy_requests_rest_for_as_long_as_they_are_costly_and_not_without_end() -> None:
    turns = Turns()
    turns.begin("alice", 100)
    turns.begin("bob", 100)
    turns.note_heavy(0.01, 100)
    assert turns.rest_s(100) > 0.01 * (REST_FACTOR - 1)
    assert turns.rest_s(101) < 0
    turns.note_heavy(1_000, 1_100)
    assert turns.rest_s(1_100) == REST_S_MAX


def test_heavy_requests_of_whoever_is_alone_do_not_rest() -> None:
    turns = Turns()
    turns.begin("alice", 100)
    turns.note_heavy(1, 100)
    assert turns.rest_s(100) <= 0


def test_opening_rests_after_what_took_long_if_somebody_asks_for_small_things() -> None:
    turns = Turns()
    assert turns.opening_rest_s(1, 100) == 0
    turns.note_brief(100, is_small=False)
    assert turns.opening_rest_s(1, 100) == 0
    turns.note_brief(100)
    assert turns.opening_rest_s(LONG_OPENING_S, 100) == LONG_OPENING_S * REST_FACTOR
    assert turns.opening_rest_s(LONG_OPENING_S / 2, 100) == 0
    assert turns.opening_rest_s(1_000, 100) == REST_S_MAX
    assert turns.opening_rest_s(1, 100.1 + BRIEF_S) == 0


async def test_a_large_batch_is_nothing_small_that_somebody_waits_for() -> None:
    turns = Turns()
    loop = asyncio.get_running_loop()
    alice = Pace(turns, loop, lambda: None)
    alice.begin()
    alice.started(PRODUCE + LARGE, 10)
    assert turns.wants_brief_replies(loop.time())
    assert turns.opening_rest_s(1, loop.time()) == 0
    alice.started(PRODUCE, 10)
    assert turns.opening_rest_s(1, loop.time()) > 0


def test_large_requests_and_replies_are_heavy_but_for_records() -> None:
    assert is_heavy(METADATA + LARGE)
    assert is_heavy(METADATA, reply_bytes=HEAVY_BYTES + 1)
    assert not is_heavy(METADATA, reply_bytes=HEAVY_BYTES)
    assert is_heavy(FETCH + LARGE)
    assert not is_heavy(FETCH, reply_bytes=1 << 20)
    assert not is_heavy(PRODUCE + LARGE, reply_bytes=1 << 20)


async def test_a_turn_that_is_over_goes_on_after_the_others() -> None:
    turns = Turns()
    went_on: list[str] = []
    loop = asyncio.get_running_loop()
    alice = Pace(turns, loop, lambda: went_on.append("alice"))
    turns.begin("bob", loop.time())
    alice.begin()
    assert alice.may_start(METADATA)
    await asyncio.sleep(2 * SLICE_S)
    alice.started(METADATA, 10)
    assert not alice.may_start(METADATA)
    assert not alice.may_start(METADATA)
    assert went_on == []
    loop.call_soon(went_on.append, "bob")
    assert is_last_of_turn(loop, own=1), "no commit waits for her"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert went_on == ["bob", "alice"]


async def test_a_heavy_request_waits_until_the_rest_is_over_and_a_light_one_does_not() -> None:
    turns = Turns()
    loop = asyncio.get_running_loop()
    went_on = asyncio.Event()
    alice, bob = Pace(turns, loop, went_on.set), Pace(turns, loop, lambda: None)
    bob.begin()
    alice.begin()
    turns.note_heavy(0.002, loop.time())
    alice.begin()
    assert alice.may_start(METADATA)
    assert not alice.may_start(METADATA + LARGE)
    bob.begin()
    assert bob.may_start(METADATA)
    assert not went_on.is_set()
    async with asyncio.timeout(5):
        await went_on.wait()
    alice.begin()
    assert alice.may_start(METADATA + LARGE)
