"""The object store port: a flat map from key to immutable bytes, and its errors."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

KEY_SIZE_MAX = 512
SEGMENT_SIZE_MAX = 250
LIST_LIMIT = 1_000

_SEGMENT = re.compile(rf"[A-Za-z0-9._=-]{{1,{SEGMENT_SIZE_MAX}}}")


class StoreError(Exception):
    """A store could not do what was asked; trying again may help.

    A write that ends in one may have happened, may happen later, or may never happen.
    """


class KeyTaken(StoreError):
    """The key exists already; it may be our own earlier try, whose reply was lost."""


class NoSuchKey(StoreError):
    """Nothing is stored under this key."""


class InvalidKey(Exception):
    """The key breaks the rules of `check_key`; no store takes it, however often it is tried."""


class ObjectStore(Protocol):
    """A flat map from key to immutable bytes.

    Every store passes `tests/contracts/test_object_store.py`; what that file does not check,
    callers may not rely on. Each verb raises `InvalidKey` for a key that breaks the rules of
    `check_key`, and `StoreError` when the world is at fault. Whoever stops waiting, by a timeout
    or a cancellation, knows as little about a write as after a `StoreError`.
    """

    async def create(self, key: str, data: bytes) -> None:
        """Stores `data` durably, or raises `KeyTaken` and changes nothing.

        It is our only fence: two brokers that race for a key learn here who won. After
        an error, a taken key may be our own: read it back and compare.
        """

    async def create_from(self, key: str, path: str) -> None:
        """Does what `create` does with the bytes of a local file.

        The file is given away: it must never be changed again, as a store may keep the file
        itself. Its name may be removed once this returns.
        """

    async def read(self, key: str, start: int, size: int) -> bytes:
        """Gives up to `size` bytes from position `start`, or raises `NoSuchKey`.

        Fewer come only where the object ends; at and after its end there are none.
        """

    async def size(self, key: str) -> int:
        """The number of bytes stored, or raises `NoSuchKey`."""

    async def list(
        self, prefix: str = "", after: str = "", limit: int = LIST_LIMIT
    ) -> Sequence[str]:
        """The first `limit` keys that begin with `prefix` and sort after `after`, in order.

        The order is that of the characters' codes. A prefix is empty or ends with a slash. Fewer
        than `limit` keys may be given while there are more: only an empty answer is the end.
        """

    async def delete(self, key: str) -> None:
        """Takes the key away, durably; no error when there is none."""


def check_key(key: str) -> None:
    """Raises `InvalidKey` unless every store can hold the key.

    A key is up to 512 characters: segments of up to 250 of `A-Z a-z 0-9 . _ = -`, with single
    slashes between them. No segment is `.` or `..`.
    """
    if len(key) > KEY_SIZE_MAX or not all(map(is_segment, key.split("/"))):
        raise InvalidKey(f"{key[: KEY_SIZE_MAX + 1]!r} cannot be a key")


def check_prefix(prefix: str) -> None:
    """Raises `InvalidKey` unless the prefix is empty, or whole segments and a slash."""
    if prefix:
        check_key(prefix.removesuffix("/"))
        # Some stores match whole segments only, so half a segment would not mean the same in all.
        if not prefix.endswith("/"):
            raise InvalidKey(f"{prefix!r} cannot be a prefix; end it with a slash")


def is_segment(segment: str) -> bool:
    """Whether this can be one segment of a key."""
    return _SEGMENT.fullmatch(segment) is not None and segment not in (".", "..")


async def list_all(store: ObjectStore, prefix: str = "", after: str = "") -> AsyncIterator[str]:
    """Every key that begins with `prefix` and sorts after `after`, one page at a time."""
    while page := await store.list(prefix, after):
        for key in page:
            yield key
        after = page[-1]
