"""Jobs in one process and on Spark, beside what Spark or the disk does alone; needs pyspark.

Export beside Spark's own copy from Parquet to Parquet, audit beside reading and summing the same
files, a micro-batch beside one of Spark's own JVM source.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count as numbers
from pathlib import Path

from fastcrc import crc32
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from benchmarks import servers
from benchmarks.batches import full_batch
from benchmarks.machine import workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.table import Table
from benchmarks.tables import MILLION, RECORD_BYTES, fill
from riverlog.jobs import audit, export
from riverlog.jobs.audit import WINDOW_BYTES, Stretch
from riverlog.jobs.export_directory import ExportDirectory
from riverlog.jobs.on_spark import auditing, exporting
from riverlog.jobs.on_spark.session import spark_context
from riverlog.log.segment import hash_of
from riverlog.stores.disk import OsDisk
from riverlog.tables.brokers import SETTINGS, Brokers

MASTER = "local[2]"
THREADS = 2
ROWS = 2_000_000
ROWS_PER_FILE = 250_000
SEGMENTS = 16
SEGMENT_BATCHES = 32
MICRO_BATCHES = 20
WARM_UP_BATCHES = 2


def run(options: Options) -> Iterator[Table]:
    with workshop() as directory, spark_context(MASTER) as context:
        with servers.riverlog(directory, options) as server:
            bootstrap = f"127.0.0.1:{server.port}"
            row_count = options.scaled(ROWS)
            fill(bootstrap, "orders", row_count)
            spark = SparkSession(context)
            yield _export(options, spark, bootstrap, directory, row_count)
            yield _micro_batch(options, spark, bootstrap, directory)
        yield _audit(options, context, directory)


def _export(
    options: Options, spark: SparkSession, bootstrap: str, directory: Path, row_count: int
) -> Table:
    table = Table(
        f"Export: {row_count:,} records of {RECORD_BYTES} B and a key to Parquet, 2 partitions"
    )
    runs = numbers()

    def exported(*, on_spark: bool) -> float:
        path = directory / f"table-{next(runs)}"
        with Brokers(bootstrap) as brokers:
            made = ExportDirectory(OsDisk(), str(path))
            asked = export.Asked(rows_per_file=options.scaled(ROWS_PER_FILE))
            began = time.perf_counter()
            plan = export.make_plan(brokers, "orders", None, asked)
            if on_spark:
                at = (bootstrap, SETTINGS)
                done = exporting.run(spark.sparkContext, plan, made, at, lambda _: None)
            else:
                read = export.reader_of(brokers, "orders")
                done = export.run(plan, OsDisk(), made, read, lambda _: None)
            seconds = time.perf_counter() - began
        table.count("exported", row_count, done.row_count)
        if path != directory / "table-0":
            shutil.rmtree(path)
        return row_count / seconds / MILLION

    def copied() -> float:
        began = time.perf_counter()
        rows = spark.read.parquet(str(directory / "table-0"))
        rows.write.option("compression", "zstd").mode("overwrite").parquet(str(directory / "copy"))
        return row_count / (time.perf_counter() - began) / MILLION

    variants: dict[str, Callable[[], float]] = {
        "in one process": partial(exported, on_spark=False),
        f"on Spark, {MASTER}": partial(exported, on_spark=True),
        "Spark's Parquet to Parquet": copied,
    }
    found = _measured(options, table, variants, "M rows/s")
    here, there, copies = found.values()
    table.add("in one process to Parquet to Parquet", ratios(here, copies))
    table.add("on Spark to Parquet to Parquet", ratios(there, copies))
    return table


def _audit(options: Options, context: SparkContext, directory: Path) -> Table:
    stretches = list(_segments(directory, options.scaled(SEGMENTS * SEGMENT_BATCHES)))
    size_bytes = sum(stretch.size_bytes for stretch in stretches)
    table = Table(f"Audit: {len(stretches)} segments, {size_bytes / MILLION:,.0f} MB in all")

    def timed(work: Callable[[], int]) -> Callable[[], float]:
        def measured() -> float:
            began = time.perf_counter()
            sound = work()
            seconds = time.perf_counter() - began
            table.count("sound segments", len(stretches), sound)
            return size_bytes / seconds / MILLION

        return measured

    def here() -> int:
        checked = audit.check_all(stretches, THREADS, lambda _: None)
        return sum(each.is_sound is True for each in checked)

    def there() -> int:
        checked = auditing.check_all(context, stretches, lambda _: None)
        return sum(each.is_sound is True for each in checked)

    def summed() -> int:
        with ThreadPoolExecutor(THREADS) as threads:
            return sum(threads.map(_sum, stretches))

    variants = {
        f"{THREADS} threads": timed(here),
        f"on Spark, {MASTER}": timed(there),
        f"read and CRC-32C, {THREADS} threads": timed(summed),
    }
    found = _measured(options, table, variants, "MB/s")
    threads, there_, plain = found.values()
    table.add("threads to read and CRC-32C", ratios(threads, plain))
    table.add("on Spark to read and CRC-32C", ratios(there_, plain))
    return table


def _segments(directory: Path, batch_count: int) -> Iterator[Stretch]:
    """Segments of equal batches with rising offsets, which no checksum covers."""
    batch, records = full_batch(RECORD_BYTES)
    for number, first in enumerate(range(0, batch_count, SEGMENT_BATCHES)):
        places = range(
            first * records, min(first + SEGMENT_BATCHES, batch_count) * records, records
        )
        data = b"".join(offset.to_bytes(8) + batch[8:] for offset in places)
        path = directory / f"{number}.log"
        path.write_bytes(data)
        yield Stretch(str(path), len(data), places[0], places[-1] + records, hash_of(data))


def _sum(stretch: Stretch) -> int:
    """All of a file read, and nothing done with it but a checksum; 1, as for a sound one."""
    with open(stretch.path, "rb", buffering=0) as file:
        while window := file.read(WINDOW_BYTES):
            crc32.iscsi(window)
    return 1


def _micro_batch(options: Options, spark: SparkSession, bootstrap: str, directory: Path) -> Table:
    table = Table(f"Spark, {MASTER}: what a micro-batch of a few rows into noop takes")
    source = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": "orders",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "2",
    }
    ours = spark.readStream.format("riverlog").options(**source).load()
    theirs = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2)
    theirs = theirs.option("numPartitions", 2)
    found = {
        name: _triggers_ms(stream, directory / f"checkpoint {name}", options)
        for name, stream in {"riverlog": ours, "rate-micro-batch": theirs.load()}.items()
    }
    for name, samples in found.items():
        table.count(f"micro-batches of {name}", _batch_count(options), len(samples))
        table.add(name, samples, "ms")
    pairs = zip(*found.values(), strict=True)
    table.add("riverlog over rate-micro-batch", [mine - other for mine, other in pairs], "ms")
    return table


def _triggers_ms(stream: DataFrame, checkpoint: Path, options: Options) -> list[float]:
    """What each of some micro-batches took, in the order they ran, without the first ones."""
    wanted = WARM_UP_BATCHES + _batch_count(options)
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(processingTime="0 seconds").start()
    while (query.lastProgress or {"batchId": 0})["batchId"] < wanted:
        time.sleep(0.05)
    query.stop()
    taken = query.recentProgress[WARM_UP_BATCHES:wanted]
    return [float(each["durationMs"]["triggerExecution"]) for each in taken]


def _batch_count(options: Options) -> int:
    return MICRO_BATCHES // 4 if options.is_quick else MICRO_BATCHES


def _measured(
    options: Options, table: Table, variants: dict[str, Callable[[], float]], unit: str
) -> dict[str, list[float]]:
    for warm_up in variants.values():
        warm_up()
    found = interleaved(table, options.rounds, variants)
    for what, samples in found.items():
        table.add(what, samples, unit)
    return found
