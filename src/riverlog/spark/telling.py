"""Errors as Spark shows them: it prints where an exception came from, and users need only what."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from riverlog.client.errors import ClientError
from riverlog.spark.errors import DataLoss, InvalidOption, SparkUnavailable

P = ParamSpec("P")
T = TypeVar("T")

_SENTENCES = (ClientError, DataLoss, InvalidOption, SparkUnavailable)


def in_a_sentence(call: Callable[P, T]) -> Callable[P, T]:
    """The same call; what it is known to raise comes without the way it took through our code."""

    @wraps(call)
    def told(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return call(*arguments, **options)
        except _SENTENCES as error:
            reason = error.with_traceback(None)
        raise reason

    return told


def each_in_a_sentence(items: Iterator[T]) -> Iterator[T]:
    """The same items, and errors as `in_a_sentence` has them."""
    try:
        yield from items
        return
    except _SENTENCES as error:
        reason = error.with_traceback(None)
    raise reason
