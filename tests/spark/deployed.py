"""A program as users write it, for a Spark that is more than one process: `deployed.py BOOTSTRAP`.

The master is in the environment, `local-cluster[…]` or a Connect server. Copies one topic to
another, as a batch and as a stream, and prints the sum of what it read.
"""

import os
import sys
from typing import Any

from pyspark.sql import SparkSession

from riverlog.spark import recommended_conf


def main(bootstrap: str, checkpoint: str) -> None:
    at = {"kafka.bootstrap.servers": bootstrap}
    source: dict[str, Any] = {**at, "subscribe": "in", "startingOffsets": "earliest"}
    sink = {**at, "topic": "out"}
    builder = SparkSession.builder.config(map=recommended_conf())
    builder = builder.config("spark.ui.enabled", "false")
    remote = os.environ.get("TEST_SPARK_REMOTE")
    if remote:
        spark = builder.remote(remote).getOrCreate()
    else:
        spark = builder.master(os.environ["TEST_SPARK_MASTER"]).getOrCreate()

    rows = spark.read.format("riverlog").options(**source).load()
    total = rows.selectExpr("sum(int(string(value))) as total").collect()[0].total
    rows.select("value").write.format("riverlog").mode("append").options(**sink).save()
    stream = spark.readStream.format("riverlog").options(**source).load().select("value")
    writer = stream.writeStream.format("riverlog").options(**sink)
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    assert writer.start().awaitTermination(120)
    print(f"total={total}")  # noqa: T201 - what the test reads
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
