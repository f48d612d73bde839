"""What Riverlog is to reach beside its peers: ratios, round by round, and plain verdicts."""

from collections.abc import Iterator
from itertools import product
from statistics import median
from typing import NamedTuple

from benchmarks.peers.results import Results
from benchmarks.peers.variants import BY_KEY, VARIANTS, Durability
from benchmarks.peers.visits import SIZES
from benchmarks.table import Aim, at_least, at_most, spread

OURS = {Durability.SYNCED: "riverlog", Durability.CACHED: "riverlog-cached"}
SIZE_NAMES = {100: "100 B", 1024: "1 KiB"}
WAYS = {"batched": "batched produce", "consume": "batched consume"}


class Wanted(NamedTuple):
    """A figure of ours over the same figure of a peer, or of the best of several."""

    what: str
    peers: tuple[str, ...]
    cell: str
    figure: str
    aim: Aim
    ours: str = "riverlog"


class Judged(NamedTuple):
    """An aim and what came of it, beside the peer that was hardest to reach."""

    wanted: Wanted
    peer: str | None
    samples: list[float]
    is_noisy: bool

    @property
    def beside(self) -> str:
        if self.peer is None:
            return ", ".join(BY_KEY[peer].title for peer in self.wanted.peers)
        title = BY_KEY[self.peer].title
        return title if len(self.wanted.peers) == 1 else f"the best peer: {title}"

    @property
    def ratio(self) -> str:
        return spread(self.samples) if self.samples else "-"

    @property
    def verdict(self) -> str:
        """A miss is a miss, even where some rounds would do."""
        if not self.samples:
            return "not measured"
        verdict = self.wanted.aim.verdict(self.samples)
        said = "met" if verdict == "met" else "**MISSED**"
        if verdict == "open":
            said += " (some rounds reach it)"
        return said + (" (noisy)" if self.is_noisy else "")


def _wanted() -> Iterator[Wanted]:
    for size in SIZES:
        one, many, named = f"p1-{size}", f"p64-{size}", SIZE_NAMES[size]
        what = f"one durable publisher, {named}"
        yield Wanted(what, ("redis-always",), one, "per_s", at_least(1.1))
        yield Wanted(what, ("nats-always",), one, "per_s", at_least(1.0))
        what = f"64 durable publishers, {named}"
        yield Wanted(what, ("redis-always",), many, "per_s", at_least(1.0))
        yield Wanted(what, ("nats-always",), many, "per_s", at_least(10.0))
        what, ours = f"64 publishers, page cache, {named}", OURS[Durability.CACHED]
        yield Wanted(what, ("nats-default",), many, "per_s", at_least(1.2), ours)
    for way, size, durability in product(WAYS, SIZES, Durability):
        what = f"{WAYS[way]}, {SIZE_NAMES[size]}, {durability.value}"
        peers = tuple(v.key for v in VARIANTS if v.durability is durability and not v.is_ours)
        yield Wanted(what, peers, f"{way}-{size}", "per_s", at_least(1.0), OURS[durability])
    what = "end-to-end p50 at 1,000/s, durable"
    yield Wanted(what, ("redis-always",), "latency", "p50_us", at_most(1.0))
    yield Wanted("start", ("kafka-default",), "start", "seconds", at_most(0.1))
    yield Wanted("memory, idle", ("kafka-default",), "start", "memory_mb", at_most(0.1))


def judged(results: Results) -> list[Judged]:
    """Every aim, in the order in which they were set."""
    return [_judged(results, wanted) for wanted in _wanted()]


def _judged(results: Results, wanted: Wanted) -> Judged:
    ratios = {
        peer: results.ratios(wanted.cell, wanted.figure, wanted.ours, peer) for peer in wanted.peers
    }
    measured = [peer for peer in wanted.peers if ratios[peer]]
    if not measured:
        return Judged(wanted, None, [], is_noisy=False)
    hardest = min if wanted.aim.is_floor else max
    peer = hardest(measured, key=lambda one: median(ratios[one]))
    is_noisy = any(results.is_noisy(key, wanted.cell) for key in (wanted.ours, peer))
    return Judged(wanted, peer, ratios[peer], is_noisy)
