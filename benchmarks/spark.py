"""Reading a topic in Spark beside Spark's own Parquet reader on the same rows; needs pyspark.

With `BENCH_SPARK_JARS=connector.jar,kafka-clients.jar,…` in the environment also beside
Spark's own Kafka source, on the same broker.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from pyspark.sql import DataFrame, SparkSession

import riverlog
from benchmarks import servers
from benchmarks.machine import workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.table import Table, at_least
from benchmarks.tables import MILLION, RECORD_BYTES, fill
from riverlog.spark import recommended_conf

RECORDS = 2_000_000
MICRO_BATCHES = 20
COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def run(options: Options) -> Iterator[Table]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config(map=recommended_conf())
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    jars = os.environ.get("BENCH_SPARK_JARS", "")
    spark = builder.config("spark.jars", jars).getOrCreate()
    count = options.scaled(RECORDS)
    try:
        with workshop() as directory, servers.riverlog(directory, options) as server:
            bootstrap = f"127.0.0.1:{server.port}"
            fill(bootstrap, "orders", count)
            for partition in (0, 1):
                rows = riverlog.read_arrow(
                    "orders", bootstrap=bootstrap, partitions=[partition], columns=COLUMNS
                )
                (directory / "parquet").mkdir(exist_ok=True)
                parquet.write_table(rows, directory / "parquet" / f"{partition}.parquet")
            yield _batch(options, spark, bootstrap, directory / "parquet", count, bool(jars))
            yield _stream(options, spark, bootstrap, directory / "checkpoint")
    finally:
        spark.stop()


def _batch(
    options: Options,
    spark: SparkSession,
    bootstrap: str,
    files: Path,
    count: int,
    has_connector: bool,
) -> Table:
    table = Table(f"Spark, local[2]: {count:,} records of {RECORD_BYTES} B and a key into noop")
    source = spark.read.format("riverlog").options(**_source(bootstrap))

    def read(frame: DataFrame) -> float:
        began = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        return count / (time.perf_counter() - began) / MILLION

    everything = source.load()
    table.count("read", count, everything.count())
    variants: dict[str, Callable[[], float]] = {
        "riverlog": lambda: read(everything),
        "Parquet": lambda: read(spark.read.parquet(str(files))),
        "riverlog, values alone": lambda: read(source.schema("value binary").load()),
    }
    if has_connector:
        connector = spark.read.format("kafka").options(**_source(bootstrap)).load()
        variants["Spark's Kafka source"] = lambda: read(connector)
    for warm_up in variants.values():
        warm_up()
    found = interleaved(table, options.rounds, variants)
    for what, samples in found.items():
        table.add(what, samples, "M rows/s")
    ours = found["riverlog"]
    table.add("riverlog to Parquet", ratios(ours, found["Parquet"]), "", at_least(0.75))
    if has_connector:
        theirs = found["Spark's Kafka source"]
        table.add("riverlog to Spark's Kafka source", ratios(ours, theirs), "", at_least(1.5))
    return table


def _stream(options: Options, spark: SparkSession, bootstrap: str, checkpoint: Path) -> Table:
    table = Table("Spark, local[2]: what a micro-batch costs that reads two records into noop")
    batches = MICRO_BATCHES // 4 if options.is_quick else MICRO_BATCHES
    source = _source(bootstrap) | {"maxOffsetsPerTrigger": "2"}
    writer = spark.readStream.format("riverlog").options(**source).load().writeStream
    writer = writer.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(processingTime="0 seconds").start()
    while (query.lastProgress or {"batchId": 0})["batchId"] < batches:
        time.sleep(0.05)
    query.stop()
    taken: list[Any] = query.recentProgress[2:]
    for what in ("triggerExecution", "addBatch", "latestOffset"):
        table.add(what, [each["durationMs"][what] for each in taken], "ms")
    return table


def _source(bootstrap: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": "orders",
        "startingOffsets": "earliest",
    }
