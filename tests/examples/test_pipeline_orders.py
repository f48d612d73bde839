"""The demonstration's orders follow from their seed, and hold what a pipeline has to deal with."""

from collections import Counter
from itertools import islice

from examples.pipeline.customers import CUSTOMERS, customers
from examples.pipeline.expected import REASONS, Day
from examples.pipeline.orders import PARTITIONS, Orders

ROWS = 20_000


def told(seed: int, rows: int = ROWS) -> Day:
    day = Day({each.customer: each for each in customers(seed)})
    for number, row in enumerate(Orders(seed).rows(0, rows)):
        day.take(row, number // PARTITIONS)
    return day


def test_the_same_seed_gives_the_same_rows_and_another_one_does_not() -> None:
    rows = list(islice(Orders(1).rows(0, ROWS), 100))

    assert list(Orders(1).rows(0, 100)) == rows
    assert list(Orders(2).rows(0, 100)) != rows


def test_a_row_does_not_depend_on_where_one_begins() -> None:
    assert list(Orders(1).rows(9000, 9100)) == list(Orders(1).rows(0, 9100))[9000:]


def test_every_kind_of_bad_row_is_there() -> None:
    day = told(1)

    assert set(Counter(day.dead_letters.values())) == set(REASONS)
    assert day.doubled > 0
    assert day.alerts


def test_every_row_is_counted_exactly_once() -> None:
    day = told(1)

    counted = sum(total.orders for total in day.windows.values())
    assert counted + day.doubled + len(day.dead_letters) == ROWS


def test_partitions_are_filled_evenly_in_the_order_of_arrival() -> None:
    rows = list(Orders(1).rows(0, 100))

    assert [row.partition for row in rows] == [number % PARTITIONS for number in range(100)]
    assert [row.arrival_ms for row in rows] == sorted(row.arrival_ms for row in rows)


def test_the_order_that_is_dropped_on_purpose_is_counted_otherwise() -> None:
    name = Orders(1).good_one(ROWS // 2)
    rows = list(Orders(1).rows(0, ROWS))

    assert any(row.key == name for row in rows)
    left = Day({each.customer: each for each in customers(1)})
    for number, row in enumerate(rows):
        if row.key != name:
            left.take(row, number // PARTITIONS)
    assert left.windows != told(1).windows


def test_customers_are_numbered_from_one() -> None:
    assert [each.customer for each in customers(1)] == list(range(1, CUSTOMERS + 1))
