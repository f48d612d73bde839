"""What a partition holds for the journal: all that is not durable, as long as it is little."""

from hypothesis import given
from hypothesis import strategies as st

from riverlog.log.fresh import FRESH_BYTES_MAX, Fresh

START = 100
# A batch of so many bytes is written; or all is durable up to some batch that was.
steps = st.lists(st.one_of(st.integers(1, FRESH_BYTES_MAX), st.floats(0, 1)), max_size=30)


def add(fresh: Fresh, data: bytes) -> None:
    fresh.add(len(data), data[:16], data[16:])


def test_what_was_written_is_held_in_order() -> None:
    fresh = Fresh(START)
    add(fresh, b"first batch of records")
    add(fresh, b"second")
    assert b"".join(fresh.parts) == b"first batch of recordssecond"
    assert (fresh.start, fresh.is_whole) == (START, True)


def test_what_is_durable_is_let_go() -> None:
    fresh = Fresh(START)
    add(fresh, b"first")
    add(fresh, b"second")
    fresh.durable_to(START + 5)
    assert (fresh.start, b"".join(fresh.parts)) == (START + 5, b"second")


def test_news_of_an_earlier_place_change_nothing() -> None:
    fresh = Fresh(START)
    add(fresh, b"first")
    add(fresh, b"second")
    fresh.durable_to(START + 5)
    fresh.durable_to(START)
    assert (fresh.start, b"".join(fresh.parts)) == (START + 5, b"second")


def test_too_much_is_let_go_at_once_and_not_held_until_all_of_it_is_durable() -> None:
    fresh = Fresh(START)
    add(fresh, b"small")
    add(fresh, bytes(FRESH_BYTES_MAX))
    assert (fresh.is_whole, fresh.parts) == (False, [])
    fresh.durable_to(START + 5)
    add(fresh, b"more")
    assert (fresh.is_whole, fresh.parts) == (False, [])
    fresh.durable_to(START + 5 + FRESH_BYTES_MAX + 4)
    assert fresh.is_whole
    add(fresh, b"again")
    assert b"".join(fresh.parts) == b"again"


def test_what_was_let_go_is_not_held_until_it_is_durable() -> None:
    fresh = Fresh(START)
    add(fresh, b"small")
    fresh.let_go()
    add(fresh, b"more")
    assert (fresh.is_whole, fresh.parts) == (False, [])
    fresh.durable_to(START + 9)
    assert fresh.is_whole


def test_as_much_as_is_allowed_is_held() -> None:
    fresh = Fresh(START)
    add(fresh, bytes(FRESH_BYTES_MAX))
    assert fresh.is_whole


@given(steps)
def test_whole_means_every_byte_from_the_start_to_the_end(taken: list[int | float]) -> None:
    fresh, written, ends = Fresh(START), bytearray(START), [START]
    for number, step in enumerate(taken):
        if isinstance(step, int):
            data = bytes([number]) * step
            written += data
            add(fresh, data)
            ends.append(len(written))
        else:
            fresh.durable_to(ends[int(step * (len(ends) - 1))])
        held = b"".join(fresh.parts)
        assert len(held) <= FRESH_BYTES_MAX
        assert held == (written[fresh.start :] if fresh.is_whole else b"")
