"""A whole run: what acks mean, then the rounds, then a million messages for each."""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.clients import Driver, Librdkafka
from benchmarks.disk import synced_appends_per_s
from benchmarks.machine import description
from benchmarks.peers.durability import checked
from benchmarks.peers.own_clients import ClientCells, library_versions
from benchmarks.peers.results import Results
from benchmarks.peers.target import Target
from benchmarks.peers.variants import Variant
from benchmarks.peers.visits import FAILURES, SIZES, Cells, Visitor
from benchmarks.rounds import Options

# Libraries are visited in every third round only: their figures say less and take as long.
ROUNDS_PER_CLIENT_VISIT = 3


class Campaign:
    """One server is alive at a time. What fails is noted, and the run goes on."""

    def __init__(
        self,
        place: Path,
        driver: Driver,
        librdkafka: Librdkafka,
        options: Options,
        results: Results,
    ) -> None:
        self._place = place
        self._driver = driver
        self._options = options
        self._results = results
        self._visitor = Visitor(place, driver, options)
        self._clients = ClientCells(driver, librdkafka, options)
        self._progress = Progress()

    def run(self, wanted: list[Variant], rounds: int) -> None:
        variants = self._present(wanted)
        self._results.forget_failures()
        data = self._results.data
        data["machine"], data["clients"] = description(), library_versions()
        data["cell_s"], data["is_quick"] = self._options.cell_s, self._options.is_quick
        unchecked = [v for v in variants if v.key not in data["durability"]]
        filled = [v for v in variants if v.fills_a_million and v.key not in data["million"]]
        visits = [
            (number, variant)
            for number in range(rounds)
            for variant in (variants if number % 2 == 0 else variants[::-1])
            if not self._results.has_visit(number, variant.key)
        ]
        self._progress.expect(len(unchecked) + len(visits) + len(filled))
        for variant in unchecked:
            self._step(f"durability of {variant.title}", partial(self._check, variant))
        for number, variant in visits:
            what = f"round {number + 1} of {rounds}, {variant.title}"
            self._step(what, partial(self._visit, number, variant))
        for variant in filled:
            self._step(f"a million messages to {variant.title}", partial(self._fill, variant))

    def _present(self, wanted: list[Variant]) -> list[Variant]:
        """Those that can be started here; the others are noted, with how to get them."""
        present = []
        skipped = self._results.data["skipped"]
        for variant in wanted:
            missing = variant.missing()
            if missing is None:
                try:
                    self._results.data["variants"][variant.key] = variant.version()
                except FAILURES as failure:
                    missing = f"it cannot be run: {failure}"[:500]
            if missing is None:
                skipped.pop(variant.title, None)
                present.append(variant)
            else:
                skipped[variant.title] = missing
                print(f"skipped: {variant.title}: {missing}", file=sys.stderr)
        return present

    def _step(self, what: str, do: Callable[[], str]) -> None:
        begun_s = time.monotonic()
        try:
            said = do()
        except FAILURES as failure:
            said = f"FAILED: {type(failure).__name__}: {failure}"
            self._results.add_failure(what, said[:1000])
        self._progress.done(what, said, time.monotonic() - begun_s)

    def _check(self, variant: Variant) -> str:
        found = checked(variant, self._place, self._driver, self._options)
        self._results.data["durability"][variant.key] = found
        self._results.save()
        return str(found.get("class") or found["missing"])

    def _visit(self, number: int, variant: Variant) -> str:
        def more(target: Target) -> Cells:
            if number % ROUNDS_PER_CLIENT_VISIT == 0:
                yield from self._clients.of(variant, target)

        if variant.key == "riverlog":
            self._disk(number)
        visited = self._visitor.visit(variant, more)
        for cell, why in visited.failures.items():
            self._results.add_failure(f"round {number + 1}, {variant.title}, {cell}", why)
        found = {"cells": visited.cells, "failures": list(visited.failures)}
        self._results.add_visit(number, variant.key, found)
        foreign = max((cell["foreign"] for cell in visited.cells.values()), default=0.0)
        failed = f", {len(visited.failures)} cells failed" if visited.failures else ""
        return f"others took up to {foreign:.0%}{failed}"

    def _disk(self, number: int) -> None:
        """What the disk does without a server, in the same round."""
        rates = {
            str(size): synced_appends_per_s(self._place, size, self._options.cell_s)
            for size in SIZES
        }
        self._results.data["disk"].append({"round": number, **rates})

    def _fill(self, variant: Variant) -> str:
        found = self._visitor.fill(variant)
        self._results.data["million"][variant.key] = found
        self._results.save()
        return f"{found['memory_mb']:.0f} MB of memory, {found['disk_mb']:.0f} MB on disk"


class Progress:
    """A line for each step, with how long the rest will take if it goes on like this."""

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._done = self._expected = 0

    def expect(self, steps: int) -> None:
        self._expected = steps
        self._begun_s = time.monotonic()

    def done(self, what: str, said: str, seconds: float) -> None:
        self._done += 1
        each_s = (time.monotonic() - self._begun_s) / self._done
        left_min = (self._expected - self._done) * each_s / 60
        counted = f"[{self._done}/{self._expected}, {left_min:.0f} min left]"
        print(f"{counted} {what}: {said} ({seconds:.1f} s)", flush=True)
