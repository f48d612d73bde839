"""What the server takes to import, beside an interpreter that imports nothing, in CPU time."""

import resource
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.rounds import Options
from benchmarks.table import Table, at_most


def run(options: Options) -> Iterator[Table]:
    bare, server = [], []
    _run("import riverlog.cli.serve")
    for _ in range(options.rounds):
        bare.append(_run("pass"))
        server.append(_run("import riverlog.cli.serve, riverlog.kafka.apis as a; a.served()"))
    extra = [with_server - without for with_server, without in zip(server, bare, strict=True)]
    table = Table("Import of everything `riverlog serve` needs, in a new process")
    table.add("an empty interpreter", bare, "ms of CPU")
    table.add("the server, on top", extra, "ms of CPU", at_most(120))
    yield table


def _run(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds * 1000
