"""What all connections share: places, by address too, and the size of replies."""

import asyncio

from riverlog.config import DoorLimits
from riverlog.kafka.budget import BRIEF_FETCH_BYTES_MAX, Budget
from riverlog.kafka.listener import CONNECTIONS_MIN, within_open_files
from riverlog.kafka.turns import BRIEF_S, Pace
from riverlog.runtime.open_files import open_files_max

MIB = 1 << 20


class Client:
    """A connection that is never really there."""

    host = "10.0.0.1"

    def abort(self) -> None:
        """Nobody has to."""


def test_places_are_counted_in_all_and_by_address() -> None:
    budget = Budget(DoorLimits(connections_max=3, connections_per_ip_max=2))
    assert [budget.admit("a"), budget.admit("a"), budget.admit("a")] == [True, True, False]
    assert [budget.admit("b"), budget.admit("b")] == [True, False]
    budget.dismiss("a")
    assert [budget.admit("b"), budget.connections] == [True, 3]


async def test_a_fetch_is_large_among_readers_and_small_while_others_want_brief_replies() -> None:
    budget = Budget(DoorLimits(fetch_bytes_max=16 * MIB))
    loop = asyncio.get_running_loop()
    reader, writer = (Pace(budget.turns, loop, lambda: None) for _ in range(2))
    for pace, request in ((reader, b"\0\1"), (writer, b"\0\1")):
        pace.begin()
        pace.started(request, 0)
    assert budget.fetch_bytes_max() == 16 * MIB
    writer.begin()
    writer.started(b"\0\0", 0)
    assert budget.fetch_bytes_max() == BRIEF_FETCH_BYTES_MAX
    await asyncio.sleep(2 * BRIEF_S)
    assert budget.fetch_bytes_max() == 16 * MIB


async def test_a_fetch_is_small_when_much_is_unread() -> None:
    budget = Budget(DoorLimits(fetch_bytes_max=16 * MIB, unread_replies_bytes_max=8 * MIB))
    assert budget.fetch_bytes_max() == 2 * MIB
    budget.unread.note(Client(), 8 * MIB)
    assert budget.fetch_bytes_max() == 0


def test_connections_leave_room_for_the_files_of_the_log() -> None:
    most = within_open_files(DoorLimits(connections_max=10**9)).connections_max
    assert CONNECTIONS_MIN <= most < open_files_max()
    assert within_open_files(DoorLimits(connections_max=7)).connections_max == 7
