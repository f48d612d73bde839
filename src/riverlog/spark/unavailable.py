"""`format("riverlog")` where it cannot work: Spark finds it, and it says what is missing."""

from pyspark.sql.datasource import DataSource

from riverlog.spark.environment import require_packages
from riverlog.spark.telling import in_a_sentence


class UnavailableSource(DataSource):  # type: ignore[misc] # pyspark has no types for mypy here
    """Were there none, Spark would say that it knows no source of this name."""

    @in_a_sentence
    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        require_packages()

    @classmethod
    def name(cls) -> str:
        """What stands in `format(…)`."""
        return "riverlog"
