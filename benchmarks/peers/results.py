"""What a run has found so far, in a file: a run that was ended goes on from there."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.machine import REPOSITORY
from benchmarks.table import FOREIGN_SHARE_MAX

Json = dict[str, Any]  # as it comes from a file


class Results:
    """Saved after every change, as a whole."""

    def __init__(self, path: Path, data: Json) -> None:
        self._path = path
        self.data = data

    @classmethod
    def opened(cls, path: Path, *, resumes: bool) -> "Results":
        """An old run to go on with, if that is wanted and there is one; else a new one."""
        if resumes and path.exists():
            return cls(path, json.loads(path.read_text()))
        begun = datetime.now(UTC).isoformat(timespec="minutes")
        empty: Json = {"durability": {}, "visits": [], "million": {}, "disk": [], "failures": []}
        return cls(path, {"begun": begun, "variants": {}, "skipped": {}} | empty)

    def save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".draft")
        draft.write_text(_text(self.data))
        os.replace(draft, self._path)

    def has_visit(self, round_number: int, key: str) -> bool:
        return any(
            visit["round"] == round_number and visit["variant"] == key
            for visit in self.data["visits"]
        )

    def add_visit(self, round_number: int, key: str, found: Json) -> None:
        self.data["visits"].append({"round": round_number, "variant": key, **found})
        self.save()

    def add_failure(self, what: str, why: str) -> None:
        # Where this lies on a disk is nobody's business who reads the page.
        self.data["failures"].append({"what": what, "why": why.replace(str(REPOSITORY), ".")})
        self.save()

    def forget_failures(self) -> None:
        """What failed is tried again: visits of which a cell is missing, too."""
        self.data["failures"] = []
        self.data["visits"] = [visit for visit in self.data["visits"] if not visit["failures"]]

    def forget_noisy_rounds(self) -> None:
        """Whole rounds: a visit means nothing but beside the others of its round."""
        noisy = {
            number
            for number in {visit["round"] for visit in self.data["visits"]}
            if median(self.foreign_shares(number)) > FOREIGN_SHARE_MAX
        }
        for kind in ("visits", "disk"):
            self.data[kind] = [one for one in self.data[kind] if one["round"] not in noisy]

    def by_round(self, key: str, cell: str, figure: str) -> dict[int, float]:
        """A figure of a variant, for each round that has it."""
        return {
            visit["round"]: visit["cells"][cell][figure]
            for visit in self.data["visits"]
            if visit["variant"] == key and figure in visit["cells"].get(cell, {})
        }

    def samples(self, key: str, cell: str, figure: str) -> list[float]:
        return list(self.by_round(key, cell, figure).values())

    def ratios(self, cell: str, figure: str, ours: str, theirs: str) -> list[float]:
        """Ours to theirs, of each round that has both: what disturbs a round disturbs both."""
        mine, others = self.by_round(ours, cell, figure), self.by_round(theirs, cell, figure)
        return [mine[number] / others[number] for number in mine if others.get(number)]

    def is_noisy(self, key: str, cell: str) -> bool:
        """Whether others took so much of the machine, in most rounds, that it says little."""
        shares = self.samples(key, cell, "foreign")
        return bool(shares) and median(shares) > FOREIGN_SHARE_MAX

    def foreign_shares(self, round_number: int | None = None) -> list[float]:
        """What others took of the processors, cell by cell, in one round or in all."""
        shares = [
            figures["foreign"]
            for visit in self.data["visits"]
            for figures in visit["cells"].values()
            if round_number in (None, visit["round"])
        ]
        return shares or [0.0]


def _text(data: Json) -> str:
    """A line for each thing found: short, and still readable as a difference."""
    parts = []
    for name, value in data.items():
        if isinstance(value, list) and value:
            inner = ",\n  ".join(json.dumps(_rounded(one)) for one in value)
            parts.append(f"{json.dumps(name)}: [\n  {inner}\n ]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(_rounded(value))}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:  # JSON of any form
    """Six digits are more than anyone measures."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return value
