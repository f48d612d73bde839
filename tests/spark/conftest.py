"""One Spark session and one broker for all tests with real Spark."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import riverlog
from tests.tools import lacking, require, spark_kafka_connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Read = Callable[..., "DataFrame"]


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Spark in this process, with its own Kafka connector if that can be had."""
    require("spark")
    from pyspark.sql import SparkSession

    from riverlog.spark import recommended_conf

    jars = ""
    if lacking("spark-jvm-connector") is None:
        jars = ",".join(map(str, (spark_kafka_connector() / "jars").iterdir()))
    session = (
        SparkSession.builder.master("local[2]")
        .config(map=recommended_conf())
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[riverlog.Broker]:
    """A broker in memory: use topics of your own. It keeps old records, as tests have them."""
    with riverlog.Broker(auto_create_topics=False, log_retention_ms=-1) as running:
        yield running


@pytest.fixture
def load(spark: "SparkSession", broker: riverlog.Broker) -> Read:
    """`load(stream=…, schema=…, option=value, …)`: a DataFrame over topics of the broker."""

    def loaded(*, stream: bool = False, schema: str | None = None, **options: Any) -> "DataFrame":
        reader = (spark.readStream if stream else spark.read).format("riverlog")
        reader = reader.option("kafka.bootstrap.servers", broker.bootstrap).options(**options)
        return (reader if schema is None else reader.schema(schema)).load()

    return loaded
