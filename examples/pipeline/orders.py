"""The orders of a day, good and bad: each row follows from the seed and its number alone."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from examples.pipeline.customers import CUSTOMERS

TOPIC = "orders"
PARTITIONS = 2
START_MS = 1_767_600_000_000  # 2026-01-05 08:00 UTC
STEP_MS = 50

CLOSING = "closing"
ITEMS = ("book", "lamp", "chair", "kettle", "bicycle", "globe", "clock", "tent")
_MINUTE_MS = 60_000

# Of a thousand rows, so many repeat an earlier one, come late, and so on; the rest are good.
_DOUBLED = 20
_LATE = _DOUBLED + 30
_TOO_LATE = _LATE + 5
_MALFORMED = _TOO_LATE + 5
_WITHOUT_QUANTITY = _MALFORMED + 3
_OF_STRANGERS = _WITHOUT_QUANTITY + 3
_SHARES = 1000

# A row repeats one of so many before it.
_REPEATED_WITHIN = 2000


class Row(NamedTuple):
    """A record of the topic: the order's number as its key, and when it came in."""

    key: str
    value: bytes
    arrival_ms: int
    partition: int


class Orders:
    """Every row by its number; whoever has the seed has them all."""

    def __init__(self, seed: int) -> None:
        self._draws = hashlib.blake2b(str(seed).encode(), digest_size=16)

    def rows(self, start: int, end: int) -> Iterator[Row]:
        """The rows of these numbers, in the order in which they come in."""
        for number in range(start, end):
            order, value = self._told(number)
            yield Row(order, value, START_MS + number * STEP_MS, number % PARTITIONS)

    def closing(self, after: int) -> Row:
        """An order of the next day: it takes the watermark past the last window of this one."""
        at_ms = START_MS + after * STEP_MS + 24 * 60 * _MINUTE_MS
        return Row(CLOSING, _text(CLOSING, 1, 0, 1, 100, at_ms), at_ms, after % PARTITIONS)

    def good_one(self, since: int) -> str:
        """The number of the first order from row `since` on that is neither bad nor repeated."""
        while self._draw(since) % _SHARES < _OF_STRANGERS:
            since += 1
        return _name(since)

    def _told(self, number: int) -> tuple[str, bytes]:
        draw = self._draw(number)
        kind = draw % _SHARES
        arrival_ms = START_MS + number * STEP_MS
        draw //= _SHARES
        if kind < _DOUBLED and number > _REPEATED_WITHIN:
            return self._told(number - 1 - draw % _REPEATED_WITHIN)
        draw, customer = divmod(draw, CUSTOMERS)
        draw, item = divmod(draw, len(ITEMS))
        draw, quantity = divmod(draw, 5)
        draw, cents = divmod(draw, 9900)
        on_the_way_ms = draw % 2000
        if kind < _LATE:
            on_the_way_ms = draw % (10 * _MINUTE_MS)
        elif kind < _TOO_LATE:
            on_the_way_ms = 20 * _MINUTE_MS + draw % (40 * _MINUTE_MS)
        elif kind < _MALFORMED:
            return _name(number), _broken(number, draw)
        elif kind < _WITHOUT_QUANTITY:
            quantity = -1 - quantity
        elif kind < _OF_STRANGERS:
            customer += CUSTOMERS
        name, at_ms = _name(number), arrival_ms - on_the_way_ms
        return name, _text(name, customer + 1, item, quantity + 1, cents + 100, at_ms)

    def _draw(self, number: int) -> int:
        digest = self._draws.copy()
        digest.update(number.to_bytes(8, "big"))
        return int.from_bytes(digest.digest(), "big")


def _name(number: int) -> str:
    return f"o-{number:09}"


def _text(name: str, customer: int, item: int, quantity: int, cents: int, at_ms: int) -> bytes:
    return (
        f'{{"order":"{name}","customer":{customer},"item":"{ITEMS[item]}",'
        f'"quantity":{quantity},"cents":{cents},"at":{at_ms}}}'
    ).encode()


def _broken(number: int, draw: int) -> bytes:
    """What no program should trip over."""
    whole = _text(_name(number), 1, 0, 1, 100, START_MS)
    shapes = (
        whole[: draw % len(whole)],
        b"<order>" + whole + b"</order>",
        whole.replace(b'"cents"', b'"pence"'),
        whole.replace(b'"quantity":1', b'"quantity":"several"'),
        b"\xff\xfe" + whole[:20],
    )
    return shapes[number % len(shapes)]
