"""Settings of a Spark session with which Python sources and sinks run well."""

import os
import sys

from riverlog.spark.workers import is_chosen, require_workers


def recommended_conf() -> dict[str, str]:
    """For `SparkSession.builder.config(map=…)` or `spark-submit --conf`; yours may override it.

    No setting of a session says which Python runs sources and sinks, only the environment of this
    process does: unless it says so already, it will be the Python that runs your program. Raises
    `SparkUnavailable` if it says so, and that Python lacks something.
    """
    variables = os.environ  # noqa: TID251 - Spark's processes inherit it, and read it there only
    if not is_chosen(variables):
        variables["PYSPARK_PYTHON"] = sys.executable
    require_workers(variables)
    return {
        # For plain tasks, under `spark-submit`.
        "spark.pyspark.python": sys.executable,
        # Saves tens of milliseconds in every micro-batch.
        "spark.python.unix.domain.socket.enabled": "true",
        # A limit below this is checked row by row, and null headers then cost eight times more.
        "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
        # What other readers of Parquet expect.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
