"""Found by Spark for its name: makes `format("riverlog")` known without registration."""

from riverlog.spark.source import RiverlogSource as DefaultSource

__all__ = ["DefaultSource"]
