"""Spark as the demonstration runs it: a driver, and two executors in processes of their own."""

import sys
import time
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from riverlog.config import environment
from riverlog.runtime.clock import SystemClock
from riverlog.spark import recommended_conf

EXECUTORS = 2
MASTER = f"local-cluster[{EXECUTORS},1,1024]"
START_MS_MAX = 300_000
# Not worth the dearest compiler in a minute or two: it would take most of the processors.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LOGS = "work"
_LOOK_S = 0.2


def driver_environment(directory: Path) -> dict[str, str]:
    """What a driver's process needs in its environment.

    Executors write their logs beside what Spark is made of, which is linked into `directory`.
    """
    home = directory / "spark"
    home.mkdir(exist_ok=True)
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != LOGS and not (home / part.name).is_symlink():
            (home / part.name).symlink_to(part)
    return {
        **environment(),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def started() -> SparkSession:
    """A session whose executors have all come."""
    spark = (
        SparkSession.builder.appName("riverlog pipeline")
        .master(MASTER)
        .config(map=recommended_conf())
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.executor.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "WARN")
        .config("spark.scheduler.mode", "FAIR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    clock = SystemClock()
    deadline_ms = clock.monotonic_ms() + START_MS_MAX
    while len(_executors(spark)) < EXECUTORS:
        if clock.monotonic_ms() > deadline_ms:
            raise TimeoutError(f"the executors did not come within {START_MS_MAX} ms")
        time.sleep(_LOOK_S)
    return spark


def addresses(spark: SparkSession) -> dict[str, object]:
    """Where to look at Spark, and what it is."""
    return {
        "ui": spark.sparkContext.uiWebUrl,
        "executors": _executors(spark),
        "spark": spark.version,
        "master": MASTER,
    }


def _executors(spark: SparkSession) -> list[str]:
    # PySpark's own tracker knows of jobs and stages only.
    store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - there is no other way
    listed = store.executorList(True)
    found = [listed.apply(number) for number in range(listed.size())]
    return sorted(each.hostPort() for each in found if each.id() != "driver")
