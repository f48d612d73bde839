"""An export whose files are written by Spark's tasks and committed here, in the order planned.

Every attempt at a task writes under names of its own. One of them is adopted for each file; what
the others have left is removed at the end, or by whoever opens the directory next.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa
from pyspark import SparkContext

from riverlog.client.settings import ClientSettings
from riverlog.jobs.export import ROWS_PER_FILE, Exported, Plan, commit, reader_of, write
from riverlog.jobs.export_directory import ExportDirectory, create_staged
from riverlog.jobs.export_manifest import DataFile
from riverlog.jobs.on_spark.tasks import bundles, in_order, run_tasks, this_task
from riverlog.jobs.parquet_files import Piece
from riverlog.runtime.chance import SystemChance, new_uuid
from riverlog.stores.disk import OsDisk
from riverlog.tables.brokers import Brokers

# More tasks than processors: the last ones to end are then not long alone.
TASKS_PER_SLOT = 4


class Source(NamedTuple):
    """Where tasks read, and where they write."""

    bootstrap: str
    settings: ClientSettings
    topic: str
    columns: tuple[str, ...]
    path: str
    run_id: str


class Staged(NamedTuple):
    """What an attempt has written."""

    attempt: str
    files: tuple[DataFile, ...]


def run(
    context: SparkContext,
    plan: Plan,
    directory: ExportDirectory,
    brokers_at: tuple[str, ClientSettings],
    on_offsets: Callable[[int], None],
) -> Exported:
    """Does all that was planned, with the same table in the end as `export.run` makes.

    Raises `JobFailed`; what was committed by then stays, and another run goes on there.
    """
    topic, columns = plan.manifest.topic, plan.manifest.columns
    run_id = new_uuid(SystemChance()).hex()
    source = Source(*brokers_at, topic, columns, directory.path, run_id)
    parts = [part for piece in plan.pieces for part in piece.parts()]
    share = plan.offset_count // (context.defaultParallelism * TASKS_PER_SLOT)
    tasks = bundles(parts, lambda part: part.end - part.start, min(share, ROWS_PER_FILE))
    results = run_tasks(context, f"exporting {topic}", tasks, partial(_write, source))

    def files() -> Iterator[DataFile]:
        for result in in_order(results):
            for file in result.value.files:
                if file.row_count:
                    directory.adopt(file, result.value.attempt)
                yield file

    try:
        return commit(plan, directory, files(), on_offsets)
    finally:
        directory.discard_staged()


def _write(source: Source, parts: tuple[Piece, ...]) -> Staged:
    """In a worker: the files of some parts; what a former attempt has left is not touched."""
    # The kernel asks for more room than it fills. Only here do untouched pages cost nothing.
    pa.set_memory_pool(pa.system_memory_pool())
    attempt = f".{source.run_id}-{this_task().taskAttemptId()}"
    create = partial(create_staged, OsDisk(), source.path, attempt=attempt)
    with Brokers(source.bootstrap, source.settings) as brokers:
        read = reader_of(brokers, source.topic)
        files = [file for part in parts for file in write(part, source.columns, read, create)]
    return Staged(attempt, tuple(files))
