"""What must come out, by the rules in plain Python: nothing here is shared with the Spark job."""

import json
from typing import Any, NamedTuple

from examples.pipeline.customers import Customer
from examples.pipeline.orders import Row

WINDOW_MS = 300_000
LATENESS_MS_MAX = 600_000
REASONS = ("malformed", "quantity", "unknown customer", "too late")
_NUMBERS = ("customer", "quantity", "cents", "at")
_TEXTS = ("order", "item")


class Total(NamedTuple):
    """What a segment ordered in a window."""

    orders: int
    items: int
    revenue_cents: int

    def plus(self, quantity: int, cents: int) -> "Total":
        """One more order."""
        return Total(self.orders + 1, self.items + quantity, self.revenue_cents + quantity * cents)


NOTHING = Total(0, 0, 0)


class Day:
    """All that follows from the rows that were taken, in the order they came in.

    Attributes:
        windows: Totals by when a window begins (in milliseconds) and segment.
        alerts: The cents of orders above their customer's limit, by order.
        dead_letters: Why a row is bad, by its partition and offset.
        doubled: How many good rows told of an order that was known already.
    """

    def __init__(self, customers: dict[int, Customer]) -> None:
        self.windows: dict[tuple[int, str], Total] = {}
        self.alerts: dict[str, int] = {}
        self.dead_letters: dict[str, str] = {}
        self.doubled = 0
        self._customers = customers
        self._known: set[str] = set()

    def take(self, row: Row, offset: int) -> None:
        """Counts a row of the topic."""
        order = _opened(row.value)
        reason = self._reason(order, row.arrival_ms)
        if order is None or reason is not None:
            self.dead_letters[f"{row.partition}/{offset}"] = reason or REASONS[0]
        elif order["order"] in self._known:
            self.doubled += 1
        else:
            self._known.add(order["order"])
            self._count(order)

    def _reason(self, order: dict[str, Any] | None, arrival_ms: int) -> str | None:
        if order is None:
            return "malformed"
        if order["quantity"] < 1:
            return "quantity"
        if order["customer"] not in self._customers:
            return "unknown customer"
        return "too late" if arrival_ms - order["at"] > LATENESS_MS_MAX else None

    def _count(self, order: dict[str, Any]) -> None:
        customer = self._customers[order["customer"]]
        quantity, cents = order["quantity"], order["cents"]
        window = (order["at"] // WINDOW_MS * WINDOW_MS, customer.segment)
        self.windows[window] = self.windows.get(window, NOTHING).plus(quantity, cents)
        if quantity * cents > customer.limit_cents:
            self.alerts[order["order"]] = quantity * cents


def _opened(value: bytes) -> dict[str, Any] | None:  # JSON of any kind
    """The order that a row tells of, None for what is none."""
    try:
        order = json.loads(value)
    except ValueError:
        return None
    if not isinstance(order, dict):
        return None
    numbers = all(type(order.get(name)) is int for name in _NUMBERS)
    return order if numbers and all(isinstance(order.get(name), str) for name in _TEXTS) else None
