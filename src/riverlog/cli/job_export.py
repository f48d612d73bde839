"""`riverlog job export`: a topic as a Parquet table that grows with every run."""

import argparse
import os

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.connecting import add_connection
from riverlog.cli.job_spark import add_place, choose_master
from riverlog.cli.places import place_of
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import WELL
from riverlog.cli.tables import print_json, size_text

DESCRIPTION = """\
Writes the records of a topic into a directory of Parquet files, partition=N/FIRST-LAST.parquet,
which pyarrow, DuckDB, Polars and Spark read as one table. The columns are those of Spark's own
Kafka source; the directories tell the partition.

Another run adds what is new since. Each file and the offset it ends at become part of the table
together, so that no row is missing or there twice, wherever a run was cut off.

Large topics are written by Spark's executors, if Spark can run here (see --on); the table is the
same."""
EXAMPLES = """\
Examples:
  riverlog job export orders ./orders-table
  riverlog job export orders ./orders-table --columns key,value,offset,timestamp
  riverlog job export orders ./last-week --from 2026-01-24T00:00:00 --until 2026-01-31T00:00:00
  riverlog job export orders /shared/orders-table --master spark://host:7077"""


def describe(parser: Parser) -> None:
    """Adds the topic, the directory, and what to write."""
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("directory", metavar="DIR", help="a new or empty one, or an export's")
    parser.add_argument(
        "--columns", metavar="NAME,…", help="only these; the first run decides [all of them]"
    )
    parser.add_argument(
        "--from",
        dest="start",
        default="earliest",
        metavar="PLACE",
        help="where partitions begin that are not in the export yet: earliest, latest, an offset,"
        " -N for the last N, or a time [%(default)s]",
    )
    parser.add_argument(
        "--until", default="latest", metavar="PLACE", help="where this run ends [%(default)s]"
    )
    parser.add_argument(
        "--rows-per-file",
        type=whole_number(1, 2**31 - 1),
        default=1_000_000,
        metavar="N",
        help="at most so many [%(default)s]",
    )
    parser.add_argument(
        "--skip-lost",
        action="store_true",
        help="go on if records were deleted before they could be exported",
    )
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    add_place(parser)
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Adds what is new to the table."""
    start = place_of(options.start, "--from")
    until = place_of(options.until, "--until")

    import pyarrow as pa

    from riverlog.jobs import export
    from riverlog.jobs.export_directory import ExportDirectory
    from riverlog.stores.directory_lock import DirectoryLock
    from riverlog.stores.disk import OsDisk
    from riverlog.tables.brokers import SETTINGS, Brokers

    # The kernel asks for more room than it fills. Only here do untouched pages cost nothing.
    pa.set_memory_pool(pa.system_memory_pool())
    columns = None if options.columns is None else tuple(options.columns.split(","))
    asked = export.Asked(columns, start, until, options.rows_per_file, options.skip_lost)
    path = os.path.abspath(options.directory)
    settings = SETTINGS._replace(timeout_ms=options.timeout * 1000)
    with Brokers(options.bootstrap, settings) as brokers:
        # Before anything is made: a mistyped name leaves no directory behind.
        brokers.topic(options.topic)
        if not os.path.exists(path):
            os.mkdir(path)
        with DirectoryLock(path):
            disk = OsDisk()
            directory = ExportDirectory(disk, path)
            plan = export.make_plan(brokers, options.topic, directory.manifest, asked)
            # Nothing new is nothing to start Spark for.
            master = (
                choose_master(options, lambda: export.size_estimate(brokers, plan))
                if plan.pieces
                else None
            )
            title = f"exporting {options.topic}"
            if master is None:
                with Progress(title, plan.offset_count) as progress:
                    read = export.reader_of(brokers, options.topic)
                    done = export.run(plan, disk, directory, read, progress.advance)
            else:
                from riverlog.jobs.on_spark import exporting
                from riverlog.jobs.on_spark.session import spark_context

                source = (options.bootstrap, settings)
                with spark_context(master) as spark, Progress(title, plan.offset_count) as bar:
                    done = exporting.run(spark, plan, directory, source, bar.advance)
    if options.json:
        print_json(done)
    else:
        files = "1 file" if done.file_count == 1 else f"{done.file_count} files"
        print(
            f"{done.row_count} rows of {done.topic} in {files} ({size_text(done.size_bytes)});"
            f" the table has {done.table_row_count} rows"
        )
    return WELL
