"""The Spark session that all tests of a process share."""

from tests.spark.conftest import spark as spark
