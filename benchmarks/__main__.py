"""Runs benchmarks by name, prints a table of each, and with `--json` writes them to a file.

Rows have aims; the exit code is 0 whether they are met or not: these machines are noisy, and a
figure is for people to judge. A count that is wrong ends the run: what it belongs to is no figure.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.machine import description
from benchmarks.rounds import Options
from benchmarks.table import Table

NAMES = [
    "codec", "imports", "embedded", "batched", "durable", "publishers", "footprint", "partitions",
    "groups", "tables", "pressure",
]  # fmt: skip
ONLY_BY_NAME = ["profiled", "spark", "spark_jobs"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"all but the last {len(ONLY_BY_NAME)} of {', '.join(NAMES + ONLY_BY_NAME)}",
    )
    parser.add_argument("--quick", action="store_true", help="try it out in a few seconds each")
    parser.add_argument(
        "--pin", action="store_true", help="servers on processor 0, clients on processor 1"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES + ONLY_BY_NAME)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; see --help")

    options = Options(is_quick=arguments.quick, is_pinned=arguments.pin)
    found: dict[str, list[dict[str, object]]] = {}
    for name in arguments.names or NAMES:
        tables: Iterator[Table] = import_module(f"benchmarks.{name}").run(options)
        found[name] = []
        for table in tables:
            table.show()
            sys.stdout.flush()
            found[name].append(table.as_json())
            if arguments.json:
                # After each: a long run that is ended keeps what it has found.
                everything = {"machine": description(), "benchmarks": found}
                arguments.json.write_text(json.dumps(everything, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
