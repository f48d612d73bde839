"""A Spark of our own for the time of a job, quiet: what it has to say goes into a file."""

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pyspark import SparkConf, SparkContext

from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.on_spark.tasks import NOT_DONE, SparkFailed, sentence_of
from riverlog.spark import SparkUnavailable, recommended_conf

CONNECT_S_MAX = 5
_CONNECT = "sc://"
_STANDALONE = "spark://"


@contextmanager
def spark_context(master: str) -> Iterator[SparkContext]:
    """Spark at `master` while the block runs; raises `JobRefused`, `JobFailed`.

    What Java has to say is kept if Spark itself fails, and the error says where.
    """
    if master.startswith(_CONNECT):
        raise JobRefused("jobs need a master such as spark://host:7077, not a Connect server")
    try:
        settings = _settings()
    except SparkUnavailable as reason:
        raise JobRefused(str(reason)) from reason
    _check_answers(master)
    conf = SparkConf().setMaster(master).setAppName("riverlog job").setAll(settings.items())
    descriptor, log = tempfile.mkstemp(".log", "riverlog-spark-")
    try:
        with _standard_error_to(descriptor):
            context = SparkContext(conf=conf)
    except (*NOT_DONE, OSError, RuntimeError) as error:
        told = f"Spark does not start at {master}: {sentence_of(str(error))}"
        raise JobFailed(f"{told} (its own messages are in {log})") from error
    finally:
        os.close(descriptor)
    try:
        yield context
    except SparkFailed as failure:
        raise JobFailed(f"{failure} (Spark's own messages are in {log})") from failure
    except BaseException:
        os.remove(log)
        raise
    else:
        os.remove(log)
    finally:
        context.stop()


def _settings() -> dict[str, str]:
    return {
        **recommended_conf(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        # Two copies of a task that publishes would both be in the topic.
        "spark.speculation": "false",
    }


def _check_answers(master: str) -> None:
    """Asks before Spark does, which tries for a minute and then tells of something else."""
    if not master.startswith(_STANDALONE):
        return
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError), socket.create_connection((host, int(port)), CONNECT_S_MAX):
            return
    raise JobFailed(f"no Spark master answers at {master}")


@contextmanager
def _standard_error_to(descriptor: int) -> Iterator[None]:
    """What is started meanwhile writes there, for as long as it lives."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
