"""How often and in which order things are measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.machine import CpuWatch
from benchmarks.table import Table

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: `is_quick` tries the harness out and measures nothing worth knowing."""

    is_quick: bool = False
    is_pinned: bool = False
    cell_s_wanted: float | None = None

    @property
    def rounds(self) -> int:
        return 2 if self.is_quick else 7

    @property
    def cell_s(self) -> float:
        """How long a cell that runs by the clock lasts."""
        if self.cell_s_wanted is not None:
            return self.cell_s_wanted
        return 0.2 if self.is_quick else 1.5

    @property
    def warm_up_s(self) -> float:
        """What such a cell lets pass before it counts."""
        return 0.05 if self.is_quick else 0.3

    def scaled(self, count: int) -> int:
        """How much of `count` to do."""
        return max(count // 100, 1) if self.is_quick else count


def interleaved(
    table: Table, rounds: int, variants: Mapping[str, Callable[[], T]]
) -> dict[str, list[T]]:
    """What each variant gave in each round. Every other round runs them backwards.

    `table` learns what share of the processors others took meanwhile.
    """
    found: dict[str, list[T]] = {name: [] for name in variants}
    order = list(variants)
    for _ in range(rounds):
        for name in order:
            watch = CpuWatch()
            found[name].append(variants[name]())
            table.foreign_shares.append(watch.foreign_share())
        order.reverse()
    return found


def ratios(ours: Sequence[float], reference: Sequence[float]) -> list[float]:
    """Ours to the reference, round by round: what disturbs a round disturbs both."""
    return [one / other for one, other in zip(ours, reference, strict=True)]
