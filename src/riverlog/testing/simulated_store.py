"""An object store that fails as remote ones do, at planned calls or as often as a seed says.

    store = SimulatedStore(
        MemoryStore(), clock, SeededChance(seed), StoreFaults({StoreFault.LOST_REPLY: 0.1})
    )

Brokers that share a store share one `SimulatedStore`: what one of them sent may take effect while
another is calling. With `latency_ms_max`, calls travel in the clock's time, both ways.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from riverlog.runtime.clock import Clock
from riverlog.stores.disk import Disk, OsDisk, opened
from riverlog.stores.object_store import (
    LIST_LIMIT,
    ObjectStore,
    StoreError,
    check_key,
    check_prefix,
)
from riverlog.testing.seeded_chance import SeededChance

Act = Callable[[], Coroutine[object, object, None]]


class StoreFault(StrEnum):
    """What may go wrong with a call."""

    UNAVAILABLE = "unavailable"
    """Nothing is done: `StoreError`, as for a 503. Often several calls in a row, a storm."""
    LOST_REPLY = "lost reply"
    """A write is done, and the caller gets a `StoreError`."""
    LATE_WRITE = "late write"
    """The caller gets a `StoreError`; the write takes effect some calls later, if it still can."""
    REPEATED_WRITE = "repeated write"
    """Something on the way sends a creation twice: the caller gets `KeyTaken` by its own bytes."""
    TRUNCATED_READ = "truncated read"
    """Fewer bytes come than there are."""
    STALE_LIST = "stale list"
    """What was created in the last few calls is missing from the answer."""


_WRITE = (StoreFault.UNAVAILABLE, StoreFault.LOST_REPLY, StoreFault.LATE_WRITE)
_FITTING: dict[str, tuple[StoreFault, ...]] = {
    "create": (*_WRITE, StoreFault.REPEATED_WRITE),
    "create_from": (*_WRITE, StoreFault.REPEATED_WRITE),
    "read": (StoreFault.UNAVAILABLE, StoreFault.TRUNCATED_READ),
    "size": (StoreFault.UNAVAILABLE,),
    "list": (StoreFault.UNAVAILABLE, StoreFault.STALE_LIST),
    "delete": _WRITE,
}


@dataclass(frozen=True, slots=True)
class StoreFaults:
    """How often each fault strikes a call it fits (0.0 to 1.0), and at which calls for certain.

    Calls are numbered from 1 over all verbs. A fault planned for a call that it does not fit is
    the test's mistake and raises `AssertionError`.
    """

    rates: Mapping[StoreFault, float] = field(default_factory=dict)
    plan: Mapping[int, StoreFault] = field(default_factory=dict)
    storm_calls_max: int = 1
    late_calls_min: int = 1
    late_calls_max: int = 8
    stale_calls: int = 8
    latency_ms_max: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the trace, written when the call ended or a late write took effect."""

    number: int
    verb: str
    key: str
    fault: StoreFault | None
    outcome: str
    """`ok` or the name of what was raised, with `late` before it for a late write."""


@dataclass(frozen=True, slots=True)
class _LateWrite:
    number: int
    verb: str
    key: str
    act: Act
    due_call: int


class SimulatedStore:
    """An `ObjectStore` around another one, with faults. Without any it behaves as the other does.

    `faults` may be replaced at any time. A write whose caller is cancelled, by a timeout say,
    while the request travels may take effect later, like any late write.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        chance: SeededChance,
        faults: StoreFaults | None = None,
        disk: Disk | None = None,
    ) -> None:
        self.faults = faults or StoreFaults()
        self.trace: list[Call] = []
        self._store = store
        self._clock = clock
        self._fate = chance.fork("faults")
        self._travel = chance.fork("latency")
        self._disk = disk or OsDisk()
        self._number = 0
        self._storm_calls_left = 0
        self._late: list[_LateWrite] = []
        self._created_at: dict[str, int] = {}

    async def create(self, key: str, data: bytes) -> None:
        check_key(key)
        await self._write("create", key, lambda: self._store.create(key, data))

    async def create_from(self, key: str, path: str) -> None:
        check_key(key)
        try:
            with opened(self._disk.open(path)) as file:
                # The bytes of now: by the time a late write takes effect, the file may be gone.
                data = file.read(0, file.size())
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        await self._write("create_from", key, lambda: self._store.create(key, data))

    async def read(self, key: str, start: int, size: int) -> bytes:
        check_key(key)
        with self._call("read", key) as (_, fault):
            await self._arrive(fault)
            data = await self._store.read(key, start, size)
            await self._latency()
            if fault is StoreFault.TRUNCATED_READ and data:
                return data[: self._fate.below(len(data))]
            return data

    async def size(self, key: str) -> int:
        check_key(key)
        with self._call("size", key) as (_, fault):
            await self._arrive(fault)
            size = await self._store.size(key)
            await self._latency()
            return size

    async def list(
        self, prefix: str = "", after: str = "", limit: int = LIST_LIMIT
    ) -> Sequence[str]:
        check_prefix(prefix)
        with self._call("list", prefix) as (number, fault):
            await self._arrive(fault)
            keys = await self._store.list(prefix, after, limit)
            await self._latency()
            if fault is StoreFault.STALE_LIST:
                unseen = range(number - self.faults.stale_calls, self._number + 1)
                return [key for key in keys if self._created_at.get(key) not in unseen]
            return keys

    async def delete(self, key: str) -> None:
        check_key(key)
        await self._write("delete", key, lambda: self._store.delete(key))

    async def land_late_writes(self) -> None:
        """Lets everything still under way take effect now, in the order it was due."""
        await self._land()

    async def _write(self, verb: str, key: str, act: Act) -> None:
        with self._call(verb, key) as (number, fault):
            try:
                await self._arrive(fault)
            except asyncio.CancelledError:
                # Nobody waits any more, but what was sent cannot be called back.
                if self._fate.happens(0.5):
                    self._postpone(number, verb, key, act)
                raise
            if fault is StoreFault.LATE_WRITE:
                self._postpone(number, verb, key, act)
                raise StoreError("timed out (simulated)")
            try:
                await self._perform(verb, key, act)
                if fault is StoreFault.REPEATED_WRITE:
                    await act()
            except StoreError as error:
                if fault is StoreFault.LOST_REPLY:
                    raise StoreError("the reply was lost (simulated)") from error
                raise
            await self._latency()
            if fault is StoreFault.LOST_REPLY:
                raise StoreError("the reply was lost (simulated)")

    @contextmanager
    def _call(self, verb: str, key: str) -> Iterator[tuple[int, StoreFault | None]]:
        self._number += 1
        number, fault = self._number, self._choose(verb)
        outcome = "ok"
        try:
            yield number, fault
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self.trace.append(Call(number, verb, key, fault, outcome))

    def _choose(self, verb: str) -> StoreFault | None:
        fitting = _FITTING[verb]
        planned = self.faults.plan.get(self._number)
        if planned:
            assert planned in fitting, f"call {self._number} is {verb}, which has no {planned}"
            return planned
        if self._storm_calls_left:
            self._storm_calls_left -= 1
            return StoreFault.UNAVAILABLE
        # Every rate is drawn for at every call, so that one of them does not shift the others.
        struck = [f for f in fitting if self._fate.happens(self.faults.rates.get(f, 0.0))]
        if StoreFault.UNAVAILABLE in struck:
            self._storm_calls_left = self._fate.below(self.faults.storm_calls_max)
        return struck[0] if struck else None

    async def _arrive(self, fault: StoreFault | None) -> None:
        await self._latency()
        await self._land(until_call=self._number)
        if fault is StoreFault.UNAVAILABLE:
            raise StoreError("unavailable (simulated)")

    async def _latency(self) -> None:
        if self.faults.latency_ms_max:
            await self._clock.sleep_ms(self._travel.between(0, self.faults.latency_ms_max))

    def _postpone(self, number: int, verb: str, key: str, act: Act) -> None:
        calls = self._fate.between(self.faults.late_calls_min, self.faults.late_calls_max)
        self._late.append(_LateWrite(number, verb, key, act, self._number + calls))
        self._late.sort(key=lambda late: late.due_call)

    async def _land(self, until_call: float = math.inf) -> None:
        while self._late and self._late[0].due_call <= until_call:
            late = self._late.pop(0)
            outcome = "late ok"
            try:
                await self._perform(late.verb, late.key, late.act)
            except StoreError as error:
                # It came too late, most often because the key was taken meanwhile.
                outcome = f"late {type(error).__name__}"
            fault = StoreFault.LATE_WRITE
            self.trace.append(Call(late.number, late.verb, late.key, fault, outcome))

    async def _perform(self, verb: str, key: str, act: Act) -> None:
        await act()
        if verb != "delete":
            self._created_at[key] = self._number
