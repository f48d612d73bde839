"""Found by Spark for its name: makes `format("riverlog")` known without registration."""

from riverlog.spark.environment import require_packages
from riverlog.spark.errors import SparkUnavailable

try:
    require_packages()
except SparkUnavailable:
    from riverlog.spark.unavailable import UnavailableSource as DefaultSource
else:
    from riverlog.spark.source import RiverlogSource as DefaultSource

__all__ = ["DefaultSource"]
