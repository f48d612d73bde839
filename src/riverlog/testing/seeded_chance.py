"""Chance from a seed: the same seed gives the same numbers, on every machine and every run."""

import random
from collections.abc import MutableSequence
from typing import TypeVar

Item = TypeVar("Item")


class SeededChance:
    """A `Chance` that can be replayed, with the few more questions a simulation asks."""

    def __init__(self, seed: int | str) -> None:
        self._seed = seed
        # A text, unlike a number, is hashed whole: neighbouring seeds share no beginning.
        self._random = random.Random(f"riverlog {seed}")

    def random_bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return self._random.randint(low, high)

    def happens(self, probability: float) -> bool:
        """True this often: never at 0.0, always at 1.0."""
        return self._random.random() < probability

    def shuffle(self, items: MutableSequence[Item]) -> None:
        """Puts `items` into any order, each as likely."""
        self._random.shuffle(items)

    def fork(self, name: str) -> "SeededChance":
        """Chance of its own for one part of the world.

        It depends on the seed and the name alone: drawing more in one part changes no other.
        """
        return SeededChance(f"{self._seed}/{name}")
