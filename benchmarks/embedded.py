"""What a broker costs a test: the first one of a process with all it loads, and each after it.

The times are those of a `with riverlog.Broker()` block up to its first acknowledged record, and to
its end. Bytecode is compiled beforehand, as it is for an installed package.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import CpuWatch, workshop
from benchmarks.rounds import Options
from benchmarks.table import Table, at_most

STARTS = 20

PROGRAM = """
import json, sys, time

found = {"ready": [], "acknowledged": [], "gone": [], "stored": 0}
for _ in range(int(sys.argv[1])):
    started_s = time.perf_counter()
    import riverlog
    with riverlog.Broker(topics={"orders": 3}) as broker:
        found["ready"].append(time.perf_counter() - started_s)
        with broker.connect() as client:
            found["stored"] += client.publish("orders", b"x", partition=0).offset + 1
        stopping_s = time.perf_counter()
        found["acknowledged"].append(stopping_s - started_s)
    found["gone"].append(time.perf_counter() - stopping_s)
print(json.dumps(found))
"""


def run(options: Options) -> Iterator[Table]:
    table = Table("A broker in the process that uses it, in memory")
    first: dict[str, list[float]] = {"ready": [], "acknowledged": [], "gone": []}
    later: dict[str, list[float]] = {"ready": [], "acknowledged": [], "gone": []}
    stored = 0
    with workshop() as place:
        _measured(place, 1)
        for _ in range(options.rounds):
            watch = CpuWatch()
            found = _measured(place, STARTS)
            table.foreign_shares.append(watch.foreign_share())
            stored += found["stored"]
            for name in first:
                first[name].append(found[name][0])
                later[name] += found[name][1:]
    table.count("stored", STARTS * options.rounds, stored)
    table.add("first one of a process: import, start, topics", first["ready"], "s", at_most(0.3))
    table.add("first one: to the first acknowledged record", first["acknowledged"], "s")
    table.add("later ones: start, topics", later["ready"], "s")
    table.add("later ones: to the first acknowledged record", later["acknowledged"], "s")
    table.add("later ones: to the end of everything", later["gone"], "s")
    yield table


def _measured(place: Path, starts: int) -> dict[str, Any]:  # JSON, as PROGRAM writes it
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(place / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(starts)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
