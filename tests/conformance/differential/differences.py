"""How a difference between Apache Kafka's replies and ours is declared; `declared/` has them."""

from collections.abc import Callable
from types import EllipsisType
from typing import NamedTuple

from riverlog.protocol.schema import ALL, Versions
from tests.conformance.differential.fields import Value


class Normalised(NamedTuple):
    """A field whose value cannot be the same; what is still compared of it, and why."""

    shown: Callable[[Value], Value]
    compared: str
    why: str


class Difference(NamedTuple):
    """A declared difference: it must be found wherever it is declared, and nowhere else.

    Attributes:
        scripts: Those in which it is found, each of them.
        field: Its path in the reply, without what tells elements apart.
        kafka: The value in Apache Kafka's reply; `...` for any.
        riverlog: The value in ours; `...` for any.
        why: The reason, for the compatibility page.
        is_meant: Whether it is to stay; otherwise it is only not done yet.
        steps: The requests of the scripts in which it is found, or none for any.
        key: What tells the element that it is found in, if not any will do.
        versions: Those in which it may be found.
    """

    scripts: tuple[str, ...]
    field: str
    kafka: Value | EllipsisType
    riverlog: Value | EllipsisType
    why: str
    is_meant: bool = True
    steps: tuple[str, ...] = ()
    key: str | None = None
    versions: Versions = ALL


def _or(absent: Value, word: str) -> Callable[[Value], Value]:
    return lambda value: value if value == absent else word


_ID = Normalised(_or(bytes(16), "an id"), "that there is one", "made by chance")
_TEXT = Normalised(
    lambda value: "a text" if value else value,
    "that there is one",
    "our errors are in our own words",
)
_MEMBER = Normalised(_or("", "a member"), "that there is one", "made by chance")
_SIZE = Normalised(_or(-1, "a size"), "that there is one", "each has files of its own")
_EPOCH = Normalised(
    _or(-1, "an epoch"),
    "that there is one",
    "ours counts the starts of the broker, Kafka's the changes of a partition's leader",
)

NORMALISED: dict[str, Normalised] = {
    "topic_id": _ID,
    "cluster_id": Normalised(_or(None, "an id"), "that there is one", "made by chance"),
    "port": Normalised(_or(None, "a port"), "that there is one", "each broker has its own"),
    "producer_id": Normalised(_or(-1, "an id"), "that there is one", "given in order of asking"),
    "session_id": Normalised(_or(0, "an id"), "that there is one", "made by chance"),
    "log_append_time_ms": Normalised(
        _or(-1, "a time"), "that there is one", "each broker has its own clock"
    ),
    "leader_epoch": _EPOCH,
    "epoch": _EPOCH,
    "member_id": _MEMBER,
    "leader": _MEMBER,
    "log_dir": Normalised(_or(None, "a path"), "that there is one", "each has its own"),
    "partition_size": _SIZE,
    "total_bytes": _SIZE,
    "usable_bytes": _SIZE,
    "error_message": _TEXT,
    "batch_index_error_message": _TEXT,
}
