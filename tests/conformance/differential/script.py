"""Scripts: what is asked of both brokers, by API."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from riverlog.kafka.apis import served
from riverlog.protocol.api_keys import ApiKey
from tests.conformance.differential.conversation import Conversation

Run = Callable[[Conversation], None]


class Script(NamedTuple):
    """One story, told to both brokers at each of the versions.

    Attributes:
        name: A few words, its own among all scripts.
        versions: Those at which it runs, among the ones that Riverlog serves.
    """

    api: ApiKey
    name: str
    versions: tuple[int, ...]
    run: Run


SCRIPTS: dict[str, Script] = {}


def script(api: ApiKey, first: int = 0, last: int = 99) -> Callable[[Run], Run]:
    """Adds a script named after its function, for every version served from `first` to `last`.

    There may be none: a script can be there before its API is.
    """

    def add(run: Run) -> Run:
        name = getattr(run, "__name__").replace("_", " ")  # noqa: B009  # functions have one
        assert name not in SCRIPTS, name
        versions = tuple(v for v in _served(api) if first <= v <= last)
        if versions:
            SCRIPTS[name] = Script(api, name, versions, run)
        return run

    return add


@cache
def _served(api: ApiKey) -> tuple[int, ...]:
    found = served().get(api)
    return () if found is None else tuple(range(found.first, found.last + 1))
