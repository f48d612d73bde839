"""Topics in Spark: `format("riverlog")`, for reading and writing, in batches and as a stream.

Nothing has to be registered: Spark finds `pyspark_riverlog` by its name.
"""

from riverlog.spark.conf import recommended_conf
from riverlog.spark.environment import require
from riverlog.spark.errors import SparkUnavailable

__all__ = ["recommended_conf", "require", "SparkUnavailable"]
