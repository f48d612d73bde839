"""What an ack of each server means, seen from outside: sync calls counted, then held up.

One publisher waits for each ack. A server that syncs first makes a sync call for each of them, and
when every such call takes longer, so does every ack. Settings are not asked. In the same way a
consumer shows whether it is given what is not yet synced.
"""

from contextlib import closing
from pathlib import Path
from shutil import rmtree
from typing import Any

from benchmarks.batches import value_of
from benchmarks.clients import Driver
from benchmarks.loads import Delays, Published
from benchmarks.peers.own_clients import LIBRARIES, connected_client, lacking
from benchmarks.peers.target import Target
from benchmarks.peers.variants import Durability, Variant
from benchmarks.rounds import Options
from benchmarks.syncs import syncs_during
from benchmarks.table import WrongCount

ACKS = 200
ACKS_HELD_UP = 40
HELD_UP_MS = 20
ROUND_TRIPS = 3
DELIVERED_PER_S, DELIVERED_S = 10, 2.0
DISTINCT = 2000


def checked(variant: Variant, place: Path, driver: Driver, options: Options) -> dict[str, Any]:
    """What was seen, for a file; with `class`, the durability that this proves."""
    directory = place / variant.key
    try:
        with variant.start(directory, options) as target:
            integrity = _integrity(variant, target, driver)
            counted, _ = syncs_during(target.pid, place, lambda: _acked(target, driver, ACKS))
            held_up, published = syncs_during(
                target.pid, place, lambda: _acked(target, driver, ACKS_HELD_UP), HELD_UP_MS
            )
            batch_syncs, batched = syncs_during(
                target.pid, place, lambda: _batched(target, driver), HELD_UP_MS
            )
            _, delays = syncs_during(
                target.pid, place, lambda: _delivered(target, driver), HELD_UP_MS
            )
    finally:
        rmtree(directory, ignore_errors=True)
    missing = counted.missing or held_up.missing
    if missing:
        return {"missing": missing, "integrity": integrity}
    per_ack, p50_ms = counted.count / ACKS, published.p50_us / 1000
    return {
        "syncs_per_ack": per_ack,
        "held_up_ms": HELD_UP_MS,
        "p50_ms": p50_ms,
        "batched_syncs": batch_syncs.count,
        "batched_p50_ms": batched.p50_us / 1000,
        "delivered_p50_ms": delays.p50_us / 1000,
        "class": _proven(per_ack, p50_ms, batch_syncs.count, batched.p50_us / 1000).value,
        "integrity": integrity,
    }


def _proven(
    syncs_per_ack: float, p50_ms: float, batched_syncs: int, batched_p50_ms: float
) -> Durability:
    waits = syncs_per_ack > 0.95 and p50_ms >= HELD_UP_MS
    waits_batched = batched_syncs > 0 and batched_p50_ms >= HELD_UP_MS
    return Durability.SYNCED if waits and waits_batched else Durability.CACHED


def _acked(target: Target, driver: Driver, count: int) -> Published:
    topic = f"traced-{count}"
    target.make(topic)
    return driver.publish(target.server.port, target.singly(topic, [value_of(100)]), 1, count)


def _batched(target: Target, driver: Driver) -> Published:
    target.make("traced-batched")
    load = target.batched("traced-batched", value_of(100))
    return driver.publish(target.server.port, load, 1, ROUND_TRIPS * load.in_flight)


def _delivered(target: Target, driver: Driver) -> Delays:
    """So few in a second that none waits for the sync of another."""
    target.make("traced-delivered")
    load = target.singly("traced-delivered", [value_of(100)])
    listening = target.listening("traced-delivered")
    return driver.latency(target.server.port, load, listening, DELIVERED_PER_S, DELIVERED_S)


def _integrity(variant: Variant, target: Target, driver: Driver) -> str:
    """Reads back, with the server's own client, what the driver wrote: every value, in order."""
    missing = lacking(variant)
    if missing is not None:
        return f"not checked: {missing}"
    values = [b"%08d" % number + value_of(92) for number in range(DISTINCT)]
    target.make("integrity")
    driver.publish(target.server.port, target.singly("integrity", values), 1, len(values))
    with closing(connected_client(variant, target)) as client:
        if list(client.read("integrity", len(values))) != values:
            raise WrongCount(f"{variant.title}: what was read is not what was written")
    name = LIBRARIES[variant.program].name
    return f"{len(values):,} values that the driver wrote, read by {name}: equal, in order"
