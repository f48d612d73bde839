"""Tasks on Spark's executors, and their results as they come, one for each whatever was retried."""

import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from pyspark import RDD, SparkContext, TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.core.context import Py4JError
from pyspark.errors import PySparkException

from riverlog.client.errors import ClientError
from riverlog.jobs.errors import JobFailed, JobRefused

T = TypeVar("T")
R = TypeVar("R")

# Java's errors are py4j's; PySpark takes it from there, too.
NOT_DONE = (Py4JError, PySparkException)
# How long a result may lie before it is looked for.
POLL_S = 0.05
_TASK_FAILURES_MAX = 4
_LOCAL = re.compile(r"local(\[[^,]+(,\s*(?P<failures>\d+))?\])?")
_TRACEBACK = "Traceback (most recent call last):"
_RECENT = "most recent failure: "
_CALLING = re.compile(r"^An error occurred while calling .*\n: ")


class SparkFailed(JobFailed):
    """Not the work went wrong, but Spark; its own messages tell more."""


class Result(NamedTuple, Generic[R]):
    """What the task with this number gave, on which of its attempts."""

    number: int
    attempt: int
    value: R


class Failure(NamedTuple):
    """Why there is no use in trying a task again."""

    message: str


def run_tasks(
    context: SparkContext, title: str, tasks: Sequence[T], work: Callable[[T], R]
) -> Iterator[Result[R]]:
    """Does `work` for every task on the executors; gives each result once, as soon as it is there.

    A task that fails is tried again as often as Spark is set to, except for one that raises
    `JobFailed` or `JobRefused`. Raises `JobFailed`; whoever stops early cancels what is under way.
    """
    if tasks:
        rows = context.parallelize(tasks, len(tasks))
        yield from run_partitions(context, title, rows, range(len(tasks)), partial(_only, work))


def run_partitions(
    context: SparkContext,
    title: str,
    rows: "RDD[T]",
    partitions: Sequence[int],
    work: Callable[[Iterator[T]], R],
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[Result[R]]:
    """The same with the rows of some partitions as tasks; they are numbered as those are.

    `on_wait` is called now and then while no result comes.
    """
    arrived = context.accumulator([], Arrivals())
    attempt = partial(_attempt, work, arrived, attempts_max(context))
    group = f"riverlog {title} {id(arrived)}"

    def run() -> list[Result[R | Failure]]:
        # Here, because the group belongs to a thread.
        context.setJobGroup(group, title, interruptOnCancel=True)
        try:
            results: list[Result[R | Failure]] = context.runJob(rows, attempt, partitions)
        except NOT_DONE as error:
            raise SparkFailed(f"Spark: {sentence_of(str(error))}") from error
        return results

    with ThreadPoolExecutor(1, "spark job") as threads:
        job = threads.submit(run)
        told: set[int] = set()
        seen = 0
        try:
            while len(told) < len(partitions):
                is_over = bool(wait([job], POLL_S).done)
                # What the job gives is the whole truth: on its way here a result may be lost.
                found = job.result() if is_over else arrived.value[seen:]
                seen += len(found)
                for number, attempts, value in found:
                    if isinstance(value, Failure):
                        raise JobFailed(value.message)
                    if number not in told:
                        told.add(number)
                        yield Result(number, attempts, value)
                if not found:
                    on_wait()
        finally:
            # There is nothing to cancel any more where Spark itself has ended.
            with suppress(*NOT_DONE):
                context.cancelJobGroup(group)


def in_order(results: Iterator[Result[R]]) -> Iterator[Result[R]]:
    """The results by their numbers, from 0 on: one waits for those before it."""
    waiting: dict[int, Result[R]] = {}
    first = 0
    for result in results:
        waiting[result.number] = result
        while first in waiting:
            yield waiting.pop(first)
            first += 1


def bundles(items: Sequence[T], weigh: Callable[[T], int], weight_max: int) -> list[tuple[T, ...]]:
    """Items in their order, those beside each other put together up to a weight: a task each."""
    found: list[tuple[T, ...]] = []
    held: list[T] = []
    weight = 0
    for item in items:
        if held and weight + weigh(item) > weight_max:
            found.append(tuple(held))
            held, weight = [], 0
        held.append(item)
        weight += weigh(item)
    return [*found, tuple(held)] if held else found


def attempts_max(context: SparkContext) -> int:
    """How often a task may fail before Spark gives up the job."""
    local = _LOCAL.fullmatch(context.master)
    if local is not None:
        return int(local["failures"] or 1)
    return int(context.getConf().get("spark.task.maxFailures", str(_TASK_FAILURES_MAX)))


def this_task() -> TaskContext:
    """In a worker: which task it is, and which attempt at it."""
    found = TaskContext.get()
    assert found is not None, "only workers ask"
    return found


def failure_of(error: Exception, attempts: int) -> Failure:
    """In a worker: what to tell of the end of a task; raises if another attempt may be better."""
    if isinstance(error, JobFailed | JobRefused):
        return Failure(str(error))
    if this_task().attemptNumber() + 1 < attempts:
        raise error
    if not isinstance(error, OSError):
        return Failure(str(error))
    # Also where: machines differ in their files.
    named = f": {error.filename}" if error.filename is not None else ""
    where = f"on {socket.gethostname()}, process {os.getpid()}"
    return Failure(f"{error.strerror or error}{named} ({where})")


def sentence_of(told: str) -> str:
    """What went wrong, out of the page of Java and Python that Spark makes of it."""
    recent = told.rpartition(_RECENT)[2]
    before_java = _CALLING.sub("", recent.partition("\n\tat ")[0]).strip()
    _, has_python, python = before_java.rpartition(_TRACEBACK)
    lines = [line for line in python.splitlines() if line and not line[0].isspace()]
    if has_python and lines:
        return lines[-1]
    return before_java.splitlines()[0] if before_java else "the job failed"


class Arrivals(AccumulatorParam[list[Result[R]]]):  # type: ignore[misc] # pyspark has no types here
    """Lists put together; Spark adds what a task has to say once, and in one piece."""

    def zero(self, _: list[Result[R]]) -> list[Result[R]]:
        return []

    def addInPlace(  # noqa: N802 - Spark's name
        self, some: list[Result[R]], more: list[Result[R]]
    ) -> list[Result[R]]:
        some += more
        return some


def _only(work: Callable[[T], R], rows: Iterator[T]) -> R:
    (task,) = rows
    return work(task)


def _attempt(
    work: Callable[[Iterator[T]], R],
    arrived: "Accumulator[list[Result[R | Failure]]]",
    attempts: int,
    rows: Iterator[T],
) -> list[Result[R | Failure]]:
    """In a worker: one attempt at a task."""
    value: R | Failure
    try:
        value = work(rows)
    except (JobFailed, JobRefused, ClientError, OSError) as error:
        value = failure_of(error, attempts)
    task = this_task()
    result = [Result(task.partitionId(), task.attemptNumber(), value)]
    arrived.add(result)
    return result
