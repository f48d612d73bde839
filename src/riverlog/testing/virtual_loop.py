"""An event loop in virtual time: hours pass in an instant, and a seed replays every schedule.

    def test_a_flush_is_retried() -> None:
        virtual_loop.run(scenario(), seed=7)

Time stands still while anything can run, then jumps to the next timer. When there is none left
and the scenario is not done, it can never be done: `Deadlock` says who waits where. Sockets,
signals and threads do not exist in here.

The same seed gives the same schedule in every process, as long as the code under test takes time
and chance from their ports and depends on the order of no set of strings.
"""

import asyncio
import heapq
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

from riverlog.testing.manual_clock import START_MS
from riverlog.testing.seeded_chance import SeededChance

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
Work = Coroutine[Any, Any, Result] | Generator[Any, None, Result]

DAY_MS = 86_400_000

# Once its time is up, a scenario is cancelled, and its `finally` blocks may need to wait.
_CLEANUP_S = 60.0
_ASYNCIO = os.path.dirname(asyncio.__file__)


class Deadlock(Exception):
    """The scenario can never end, or did not in its time; the message names who waits where."""


def run(
    main: Coroutine[Any, Any, Result], *, seed: int | None = None, time_ms_max: int = DAY_MS
) -> Result:
    """Runs `main` to its end in a new `VirtualLoop` and gives its result.

    With a seed, tasks that could run at the same moment run in an order drawn from it, and a
    failure carries a note that names the seed. Without one, they run in asyncio's own order.
    """
    try:
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(seed, time_ms_max)) as runner:
            return runner.run(main)
    except BaseException as failure:
        if seed is not None:
            failure.add_note(f"replay it with seed={seed}")
        raise


class LoopClock:
    """A `Clock` that follows the time of whatever loop it is asked in; the wall clock can jump."""

    def __init__(self, start_ms: int = START_MS) -> None:
        self._wall_offset_ms = start_ms

    def now_ms(self) -> int:
        return self._wall_offset_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        # Half a microsecond mends sums of floats that come out just below a whole number.
        return int(asyncio.get_running_loop().time() * 1000 + 0.0005)

    async def sleep_ms(self, duration_ms: int) -> None:
        await asyncio.sleep(duration_ms / 1000)

    def jump_wall_ms(self, offset_ms: int) -> None:
        """Sets the wall clock forwards or back; deadlines and sleepers do not notice."""
        self._wall_offset_ms += offset_ms


class VirtualLoop(asyncio.BaseEventLoop):
    """The loop behind `run`. It takes the place of asyncio's own turn, `_run_once`."""

    # What asyncio.BaseEventLoop keeps; its published types do not tell.
    _ready: deque[asyncio.Handle]
    _stopping: bool
    _thread_id: int | None

    def __init__(self, seed: int | None = None, time_ms_max: int = DAY_MS) -> None:
        super().__init__()
        self._now_s = 0.0
        self._time_s_max = time_ms_max / 1000
        self._chance = None if seed is None else SeededChance(f"{seed}/schedule")
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._pools: dict[Executor | None, _Pool] = {}
        self._serials = itertools.count()

    def time(self) -> float:
        return self._now_s

    def call_at(
        self,
        when: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As asyncio's, and for the same moment in the order of the calls.

        Real time has no two equal moments; virtual time is full of them.
        """
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._serials), timer))
        return timer

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[*Arguments], Result],
        *args: *Arguments,
    ) -> asyncio.Future[Result]:
        """Calls `func` in this very thread at a moment to come; its result comes a little later.

        The executor only says how many calls it would run at once: those of an executor with one
        thread run one after the other, in the order they were made.
        """
        pool = self._pools.setdefault(executor, _Pool(getattr(executor, "_max_workers", None)))
        result: asyncio.Future[Result] = self.create_future()
        self.call_at(pool.place(self._now_s, self._moment_s()), self._call, result, func, args)
        return result

    def create_future(self) -> asyncio.Future[Any]:
        return _Future(self, next(self._serials))

    def create_task(
        self, coro: Work[Result], *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Result]:
        return _Task(coro, self, next(self._serials), name=name, context=context)

    def _call(
        self,
        result: asyncio.Future[Result],
        func: Callable[[*Arguments], Result],
        args: tuple[*Arguments],
    ) -> None:
        # A call that nobody waits for any more was either under way already, or never began.
        if result.cancelled() and self._chance and self._chance.happens(0.5):
            return
        try:
            value = func(*args)
        except BaseException as failure:  # noqa: BLE001 - a thread, too, hands on all of them.
            self.call_later(self._moment_s(), _fail, result, failure)
        else:
            self.call_later(self._moment_s(), _fulfil, result, value)

    def _moment_s(self) -> float:
        return (self._chance.between(1, 1_000) if self._chance else 1) / 1_000_000

    def _run_once(self) -> None:
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        if not self._ready and not self._stopping:
            self._jump()
        while self._timers and self._timers[0][0] <= self._now_s:
            self._ready.append(heapq.heappop(self._timers)[2])
        if self._chance:
            self._shuffle(self._chance)
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()  # noqa: SLF001 - what asyncio's own turn does.

    def _jump(self) -> None:
        if not self._timers:
            raise Deadlock(f"nothing can happen any more; {self._who_waits()}")
        self._now_s = max(self._now_s, self._timers[0][0])
        if self._now_s > self._time_s_max:
            limit_s, self._time_s_max = self._time_s_max, self._now_s + _CLEANUP_S
            raise Deadlock(f"not done after {limit_s:g} s; {self._who_waits()}")

    def _shuffle(self, chance: SeededChance) -> None:
        # Only steps of tasks change places. Plain callbacks keep theirs: asyncio promises that
        # they run in the order they were made, and transports rest on it.
        places = [place for place, handle in enumerate(self._ready) if _is_step(handle)]
        if len(places) > 1:
            steps = [self._ready[place] for place in places]
            chance.shuffle(steps)
            for place, step in zip(places, steps, strict=True):
                self._ready[place] = step

    def _who_waits(self) -> str:
        waiting = sorted(f"{task.get_name()} {_where(task)}" for task in asyncio.all_tasks(self))
        return f"at {self._now_s * 1000:.3f} ms these wait: {'; '.join(waiting) or 'no task'}"

    def _write_to_self(self) -> None:
        if self._thread_id not in (None, threading.get_ident()):
            raise RuntimeError("a thread called into a virtual loop; use run_in_executor")


class _Pool:
    """When the workers of an executor are free."""

    def __init__(self, workers: int | None) -> None:
        self._free_s: list[float] | None = None if workers is None else [0.0] * workers

    def place(self, now_s: float, duration_s: float) -> float:
        """The moment a call made now is carried out, its worker being busy until then."""
        if self._free_s is None:
            return now_s + duration_s
        done_s = max(now_s, self._free_s[0]) + duration_s
        heapq.heapreplace(self._free_s, done_s)
        return done_s


# asyncio keeps tasks and futures in sets, which are ordered by hash, which is by default the
# address: a different order in every process. A serial number makes it the same.
class _Task(asyncio.Task[Result]):
    def __init__(self, work: Work[Result], loop: VirtualLoop, serial: int, **options: Any) -> None:
        self._serial = serial
        super().__init__(work, loop=loop, **options)

    def __hash__(self) -> int:
        return self._serial


class _Future(asyncio.Future[Any]):
    def __init__(self, loop: VirtualLoop, serial: int) -> None:
        self._serial = serial
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._serial


def _is_step(handle: asyncio.Handle) -> bool:
    callback = getattr(handle, "_callback", None)
    return isinstance(getattr(callback, "__self__", None), asyncio.Task)


def _fulfil(result: asyncio.Future[Result], value: Result) -> None:
    if not result.done():
        result.set_result(value)


def _fail(result: asyncio.Future[Any], failure: BaseException) -> None:
    if not result.done():
        result.set_exception(failure)


def _where(task: asyncio.Task[Any]) -> str:
    awaited: Any = task.get_coro()
    place = "nowhere"
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None)
        # Which event or queue is awaited says less than who awaits it.
        if frame and (place == "nowhere" or not frame.f_code.co_filename.startswith(_ASYNCIO)):
            place = f"in {frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
        awaited = getattr(awaited, "cr_await", None)
    return place
