"""Compares every total that came out with what the seed says must; Spark has no part in it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from examples.pipeline.customers import customers
from examples.pipeline.expected import NOTHING, REASONS, Day, Total
from examples.pipeline.found import Found, found_results, logged_orders
from examples.pipeline.orders import CLOSING, PARTITIONS, Orders

Key = TypeVar("Key")


class Line(NamedTuple):
    """One total; money is in cents."""

    what: str
    expected: int
    found: int

    @property
    def is_right(self) -> bool:
        """Whether nothing is missing and nothing is too much."""
        return self.expected == self.found


class Checked(NamedTuple):
    """What the check has found; `again` tells what Spark sent twice, which readers tell by its id.

    Attributes:
        windows: Revenue by when a window begins and segment, for the report.
    """

    lines: tuple[Line, ...]
    alerts_again: int
    dead_letters_again: int
    windows: dict[tuple[int, str], int]

    @property
    def is_right(self) -> bool:
        """Whether every total is what it must be."""
        return all(line.is_right for line in self.lines)


def checked(seed: int, rows: int, bootstrap: str, table: Path) -> Checked:
    """Goes through all rows of the seed once, and through all that came out."""
    known = {each.customer: each for each in customers(seed)}
    day = Day(known)
    log = {number: logged_orders(bootstrap, number) for number in range(PARTITIONS)}
    offsets = dict.fromkeys(log, 0)
    untouched = logged = 0
    for row in chain(Orders(seed).rows(0, rows), [Orders(seed).closing(rows)]):
        found = next(log[row.partition], None)
        logged += found is not None
        untouched += found == (row.key.encode(), row.value, row.arrival_ms)
        if row.key != CLOSING:
            day.take(row, offsets[row.partition])
        offsets[row.partition] += 1
    logged += sum(1 for left in log.values() for _ in left)
    there = found_results(bootstrap, table)
    in_log = [
        Line("customers imported", len(known), there.customers),
        # One more than was asked for: the order that closes the day.
        Line("orders in the log", rows + 1, logged),
        Line("  each at its offset, unchanged", rows + 1, untouched),
    ]
    return Checked(
        (*in_log, *_windows(rows, day, there), *_notices(day, there)),
        there.alerts_again,
        there.dead_letters_again,
        {window: total.revenue_cents for window, total in there.windows.items()},
    )


def _windows(rows: int, day: Day, there: Found) -> list[Line]:
    expected, found = _sum(day.windows.values()), _sum(there.windows.values())
    doubled = rows - found.orders - len(there.dead_letters)
    return [
        Line("windows of all segments", len(day.windows), len(there.windows)),
        Line("  each with the right totals", len(day.windows), _same(day.windows, there.windows)),
        Line("  there twice", 0, there.windows_twice),
        Line("orders in windows", expected.orders, found.orders),
        Line("items in windows", expected.items, found.items),
        Line("revenue in windows, cents", expected.revenue_cents, found.revenue_cents),
        Line("doubled orders left out", day.doubled, doubled),
    ]


def _notices(day: Day, there: Found) -> list[Line]:
    expected, found = Counter(day.dead_letters.values()), Counter(there.dead_letters.values())
    right = _same(day.dead_letters, there.dead_letters)
    return [
        Line("alerts", len(day.alerts), len(there.alerts)),
        Line("  each of the right order", len(day.alerts), _same(day.alerts, there.alerts)),
        Line("  their totals, cents", sum(day.alerts.values()), sum(there.alerts.values())),
        Line("dead letters", len(day.dead_letters), len(there.dead_letters)),
        *(Line(f"  {reason}", expected[reason], found[reason]) for reason in REASONS),
        Line("  each of the right row", len(day.dead_letters), right),
    ]


def _sum(totals: Iterable[Total]) -> Total:
    columns = list(zip(NOTHING, *totals, strict=True))
    return Total(*map(sum, columns))


def _same(expected: Mapping[Key, object], found: Mapping[Key, object]) -> int:
    return sum(found.get(key) == value for key, value in expected.items())
