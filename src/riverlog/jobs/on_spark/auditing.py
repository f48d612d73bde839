"""Segments checked by Spark's tasks, straight from files that every executor sees."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pyspark import SparkContext

from riverlog.config import MIB
from riverlog.jobs.audit import Checked, Stretch, check
from riverlog.jobs.errors import JobFailed
from riverlog.jobs.on_spark.tasks import bundles, in_order, run_tasks

# Small segments share a task, as each costs some milliseconds.
BYTES_PER_TASK = 64 * MIB


class Verdicts(NamedTuple):
    """Whether each stretch of a task is sound, as `Checked` has it."""

    are_sound: tuple[bool | None, ...]
    read_bytes: int


def check_all(
    context: SparkContext, stretches: Sequence[Stretch], on_bytes: Callable[[int], None]
) -> Iterator[Checked]:
    """As `audit.check_all` does; raises `JobFailed`, also if executors do not see the files."""
    here = [each._replace(path=os.path.abspath(each.path)) for each in stretches]
    tasks = bundles(here, lambda stretch: stretch.size_bytes, BYTES_PER_TASK)
    results = run_tasks(context, "auditing", tasks, _check)
    left = iter(stretches)
    for result in in_order(results):
        on_bytes(result.value.read_bytes)
        for is_sound in result.value.are_sound:
            stretch = next(left)
            if is_sound is None and os.path.exists(stretch.path):
                raise JobFailed(
                    f"{stretch.path} is here, and an executor does not see it: all machines have"
                    " to share these files"
                )
            yield Checked(stretch, is_sound)


def _check(stretches: tuple[Stretch, ...]) -> Verdicts:
    """In a worker."""
    read: list[int] = []
    checked = [check(stretch, read.append) for stretch in stretches]
    return Verdicts(tuple(each.is_sound for each in checked), sum(read))
