"""Measures Riverlog beside Redis, NATS, Apache Kafka and RabbitMQ, and writes docs/benchmarks.md.

A peer that is not installed is left out, by name. What was found is saved after every visit: a run
that was ended goes on with --resume, which also tries again what has failed.
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.clients import Driver, Librdkafka
from benchmarks.machine import REPOSITORY, WORKSHOP, workshop
from benchmarks.peers.campaign import Campaign
from benchmarks.peers.page import write_page
from benchmarks.peers.results import Results
from benchmarks.peers.variants import BY_KEY, VARIANTS, Variant
from benchmarks.rounds import Options

ROUNDS, ROUNDS_QUICK = 7, 1
CELL_S, CELL_S_QUICK = 1.0, 0.3


def main() -> int:
    arguments = _arguments()
    quick: bool = arguments.quick
    cell_s = CELL_S_QUICK if quick else CELL_S
    options = Options(is_quick=quick, is_pinned=arguments.pin, cell_s_wanted=cell_s)
    # A trial never touches the page.
    page = WORKSHOP / "quick" / "benchmarks.md" if quick else REPOSITORY / "docs/benchmarks.md"
    page = arguments.page or page
    resumes = arguments.resume or arguments.redo_noisy or arguments.page_only
    results = Results.opened(page.with_suffix(".json"), resumes=resumes)
    if arguments.redo_noisy:
        results.forget_noisy_rounds()
    if not arguments.page_only:
        begun_s = time.monotonic()
        with workshop() as place:
            driver, librdkafka = Driver(place, options), Librdkafka(place, options)
            campaign = Campaign(place, driver, librdkafka, options, results)
            campaign.run(arguments.only, arguments.rounds or (ROUNDS_QUICK if quick else ROUNDS))
        print(f"took {(time.monotonic() - begun_s) / 60:.1f} minutes")
    write_page(results, page)
    print(f"wrote {page}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Who takes part:\n" + "\n".join(f"  {v.key:16} {v.title}" for v in VARIANTS),
    )
    parser.add_argument("--quick", action="store_true", help="try all of it out, in minutes")
    parser.add_argument(
        "--only", type=_variants, default=VARIANTS, metavar="A,B", help="only these, by name"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help=f"how many; {ROUNDS} by default")
    parser.add_argument("--resume", action="store_true", help="go on with what there is")
    parser.add_argument(
        "--redo-noisy", action="store_true", help="resume, with new rounds for the noisy ones"
    )
    parser.add_argument(
        "--pin", action="store_true", help="servers on processor 0, clients on processor 1"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE.md", help="write there, with a .json beside it"
    )
    parser.add_argument("--page-only", action="store_true", help="write the page anew, no more")
    return parser.parse_args()


def _variants(names: str) -> list[Variant]:
    unknown = set(names.split(",")) - set(BY_KEY)
    if unknown:
        raise argparse.ArgumentTypeError(f"no such server: {', '.join(sorted(unknown))}")
    return [BY_KEY[name] for name in names.split(",")]


if __name__ == "__main__":
    sys.exit(main())
