"""Settings of a Spark session with which Python sources and sinks run well."""

import sys


def recommended_conf() -> dict[str, str]:
    """For `SparkSession.builder.config(map=…)` or `spark-submit --conf`; yours may override it."""
    return {
        # Otherwise the workers take the first Python on the PATH, which may be another one.
        "spark.pyspark.python": sys.executable,
        # Saves tens of milliseconds in every micro-batch.
        "spark.python.unix.domain.socket.enabled": "true",
        # A limit below this is checked row by row, and null headers then cost eight times more.
        "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
        # What other readers of Parquet expect.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
