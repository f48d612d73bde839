"""The customers, as a CSV file that `riverlog job import` takes in."""

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOPIC = "customers"
CUSTOMERS = 2000
SEGMENTS = ("private", "business", "school", "town")
_LIMITS_CENTS = (44_000, 47_500, 49_000, 60_000)


class Customer(NamedTuple):
    """Who orders; an order above the limit is worth an alert."""

    customer: int
    segment: str
    limit_cents: int


def customers(seed: int) -> Iterator[Customer]:
    """All of them; the same ones for the same seed."""
    for number in range(1, CUSTOMERS + 1):
        draw = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=2).digest()
        segment, limit = draw[0] % len(SEGMENTS), draw[1] % len(_LIMITS_CENTS)
        yield Customer(number, SEGMENTS[segment], _LIMITS_CENTS[limit])


def write_customers(path: Path, seed: int) -> None:
    """Writes the file, with a first line of names."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(Customer._fields)
        rows.writerows(customers(seed))
