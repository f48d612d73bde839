"""A program whose workers lack something: `lacking.py MASTER BOOTSTRAP` prints what users see."""

import sys

from pyspark.sql import SparkSession


def main(master: str, bootstrap: str) -> None:
    at = {"kafka.bootstrap.servers": bootstrap}
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    spark = builder.config("spark.task.maxFailures", "1").getOrCreate()

    def read() -> None:
        spark.read.format("riverlog").options(subscribe="in", **at).load().collect()

    def write() -> None:
        writer = spark.range(1).selectExpr("string(id) as value").write.format("riverlog")
        writer.mode("append").options(topic="in", **at).save()

    for action in (read, write):
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever users see
            print(f"{action.__name__}: {error}")  # noqa: T201 - what the test reads
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
