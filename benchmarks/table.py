"""Figures that line up: what was measured, what it came to, what it should."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

FOREIGN_SHARE_MAX = 0.10


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound on the median. One that only some of the samples keep is neither met nor missed."""

    bound: float
    is_floor: bool

    def __str__(self) -> str:
        return f"{'≥' if self.is_floor else '≤'} {figure(self.bound)}"

    def verdict(self, samples: Sequence[float]) -> str:
        """ "met" by the median, "missed" by every sample, or else "open"."""
        if self._is_kept_by(median(samples)):
            return "met"
        return "open" if any(map(self._is_kept_by, samples)) else "missed"

    def _is_kept_by(self, value: float) -> bool:
        return value >= self.bound if self.is_floor else value <= self.bound


def at_least(bound: float) -> Aim:
    return Aim(bound, is_floor=True)


def at_most(bound: float) -> Aim:
    return Aim(bound, is_floor=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, with a sample of each round."""

    what: str
    samples: Sequence[float]
    unit: str
    aim: Aim | None = None


class WrongCount(Exception):
    """Not everything that was sent arrived: the rate beside it would be a lie."""


@dataclass(slots=True)
class Table:
    """What one benchmark found: its rows, what was counted, and what to know about the run."""

    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: list[tuple[str, int, int]] = field(default_factory=list)
    foreign_shares: list[float] = field(default_factory=list)

    def add(
        self, what: str, samples: Sequence[float], unit: str = "", aim: Aim | None = None
    ) -> None:
        """Adds a row; there is at least one sample."""
        self.rows.append(Row(what, list(samples), unit, aim))

    def count(self, what: str, wanted: int, found: int) -> None:
        """Notes that as much was found as was wanted; raises `WrongCount` if not."""
        if wanted != found or not wanted:
            raise WrongCount(f"{self.title}: {what}: {found} of {wanted}")
        self.counts.append((what, wanted, found))

    @property
    def is_noisy(self) -> bool:
        """Whether others took so much of the machine that rows with syncs mean nothing."""
        return bool(self.foreign_shares) and median(self.foreign_shares) > FOREIGN_SHARE_MAX

    def show(self) -> None:
        """Prints the rows: the median with the smallest and the largest, the aim, the verdict."""
        print(f"\n{self.title}")
        what_width = max(len(row.what) for row in self.rows)
        unit_width = max(len(row.unit) for row in self.rows)
        for row in self.rows:
            low, high = figure(min(row.samples)), figure(max(row.samples))
            spread = f"[{low} .. {high}]" if len(row.samples) > 1 else ""
            aim = f"aim {row.aim}: {row.aim.verdict(row.samples)}" if row.aim else ""
            line = (
                f"  {row.what:<{what_width}}  {figure(median(row.samples)):>9}"
                f" {row.unit:<{unit_width}}  {spread:<22}  {aim}"
            )
            print(line.rstrip())
        if self.counts:
            total = sum(wanted for _, wanted, _ in self.counts)
            print(f"  counted: all of {total:,} messages, in {len(self.counts)} cells")
        if self.foreign_shares:
            least, most = min(self.foreign_shares), max(self.foreign_shares)
            noisy = "; a noisy run, do not judge rows with syncs by it" if self.is_noisy else ""
            print(f"  others took {least:.0%} to {most:.0%} of the processors{noisy}")
        for note in self.notes:
            print(f"  {note}")

    def as_json(self) -> dict[str, object]:
        """The same, for machines."""
        return {
            "title": self.title,
            "rows": [
                {
                    "what": row.what,
                    "unit": row.unit,
                    "median": median(row.samples),
                    "samples": list(row.samples),
                    "aim": str(row.aim) if row.aim else None,
                    "verdict": row.aim.verdict(row.samples) if row.aim else None,
                }
                for row in self.rows
            ],
            "counts": [
                {"what": what, "wanted": wanted, "found": found}
                for what, wanted, found in self.counts
            ],
            "foreign_cpu_shares": self.foreign_shares,
            "is_noisy": self.is_noisy,
            "notes": self.notes,
        }


def spread(samples: Sequence[float]) -> str:
    """The median with the smallest and the largest, if there are several."""
    if len(samples) == 1:
        return figure(samples[0])
    return f"{figure(median(samples))} [{figure(min(samples))} .. {figure(max(samples))}]"


def figure(value: float) -> str:
    """Three digits, or thousands set apart."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
