"""`python -m examples.pipeline`: runs the demonstration, checks it, and writes its report."""

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.pipeline.check import Checked, checked
from examples.pipeline.demonstration import Asked, Demonstration
from examples.pipeline.display import Display
from examples.pipeline.gauges import Gauges
from examples.pipeline.plots import write_picture
from examples.pipeline.processes import Broken
from examples.pipeline.report import Story, write_report

from riverlog.cli.refusals import FAILED, INTERRUPTED, REFUSED, WELL
from riverlog.cli.tables import table_lines
from riverlog.spark import SparkUnavailable, require

ROWS = 1_000_000
ROWS_MIN = 5000
SEED = 7
PLACE = Path("build") / "pipeline"

DESCRIPTION = """\
Orders through a broker and Spark, as in real life: some come late, some twice, some broken.

Starts a broker, and Spark with two executors; imports customers; publishes orders that Spark
cleans, joins and counts in windows, into a Parquet table and two topics. Midway, Spark's driver
and the broker are killed with -9. At the end plain Python, without Spark, compares every total
with what the seed says it must be: any difference ends it with exit code 1."""
EXAMPLES = """\
Examples:
  python -m examples.pipeline
  python -m examples.pipeline --rows 50000 --keep looked-at
  python -m examples.pipeline --rows 50000 --drop-a-row       the check must fail"""


def main(words: list[str] | None = None) -> int:
    """Exit code 0: all totals are right; 1: they are not, or something broke; 2: asked wrongly."""
    options = _parser().parse_args(words)
    asked = Asked(options.rows, options.seed, options.drop_a_row, kills=not options.calm)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        require()
        with _directory(options.keep) as directory:
            return _shown(asked, directory, options)
    except SparkUnavailable as lacking:
        return _told(str(lacking), REFUSED)
    except (Broken, OSError) as broken:
        return _told(str(broken), FAILED)
    except KeyboardInterrupt:
        return _told("interrupted; nothing is left running", INTERRUPTED)


def _shown(asked: Asked, directory: Path, options: argparse.Namespace) -> int:
    display = Display()
    display.title(f"{asked.rows:,} orders, seed {asked.seed}")
    demonstration = Demonstration(asked, directory, display)
    try:
        gauges = demonstration.run()
        found = checked(asked.seed, asked.rows, demonstration.broker.bootstrap, demonstration.table)
    finally:
        demonstration.close()
    verdict = "every total is what the seed says" if found.is_right else "TOTALS DIFFER"
    display.step("check", verdict, "✓" if found.is_right else "✗")
    _print_check(found)
    write_report(options.report, _story(asked, demonstration, gauges, found))
    if options.picture is not None:
        write_picture(options.picture, gauges)
    display.step("report", str(options.report))
    return WELL if found.is_right else FAILED


def _print_check(found: Checked) -> None:
    rows = [
        (line.what, f"{line.expected:,}", f"{line.found:,}", "" if line.is_right else "differs")
        for line in found.lines
    ]
    print()
    for line in table_lines(("", "expected", "found", ""), rows, right=("expected", "found")):
        print(f"  {line}")
    print()
    print(
        f"  The sink is at least once: {found.alerts_again:,} alerts and"
        f" {found.dead_letters_again:,} dead letters are there a second time, told by their ids."
    )
    print()


def _story(asked: Asked, demonstration: Demonstration, gauges: Gauges, found: Checked) -> Story:
    driver = demonstration.driver
    return Story(
        rows=asked.rows,
        seed=asked.seed,
        addresses={"broker": demonstration.broker.bootstrap, **driver.addresses},
        versions=driver.versions,
        restarts=driver.restarts,
        gauges=gauges,
        checked=found,
    )


@contextmanager
def _directory(keep: Path | None) -> Iterator[Path]:
    """Where everything is: a new directory that goes again if all went well, or the one to keep."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    # Beside the report rather than where temporary files go, which may be in memory.
    PLACE.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=PLACE)).resolve()
    is_wanted = False
    try:
        yield place
    except Broken:
        is_wanted = True  # for the logs in it
        raise
    finally:
        if not is_wanted:
            shutil.rmtree(place, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.pipeline",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rows", type=_rows, default=ROWS, metavar="N", help="orders to publish [%(default)s]"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        metavar="N",
        help="what all orders follow from [%(default)s]",
    )
    parser.add_argument(
        "--keep",
        type=_empty,
        metavar="DIR",
        help="keep data, table, checkpoints and logs in this new or empty directory",
    )
    parser.add_argument(
        "--report", type=Path, default=PLACE / "report.html", metavar="FILE", help="[%(default)s]"
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="the plot of the stream alone, .png or .svg"
    )
    parser.add_argument(
        "--drop-a-row", action="store_true", help="lose one order on purpose: the check must fail"
    )
    parser.add_argument("--calm", action="store_true", help="kill nothing")
    return parser


def _rows(text: str) -> int:
    if not text.isdecimal() or int(text) < ROWS_MIN:
        raise argparse.ArgumentTypeError(f"at least {ROWS_MIN} rows, not '{text}'")
    return int(text)


def _empty(text: str) -> Path:
    path = Path(text)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise argparse.ArgumentTypeError(f"'{text}' is there already, and not an empty directory")
    return path


def _told(text: str, exit_code: int) -> int:
    print(f"pipeline: {text}", file=sys.stderr)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
