"""Background tasks: the one place where they start, fail, start again and stop."""

import asyncio
from collections.abc import Callable, Coroutine

from riverlog.runtime import logs
from riverlog.runtime.chance import Chance, jittered_ms
from riverlog.runtime.clock import Clock

Work = Callable[[], Coroutine[object, object, None]]

log = logs.get(__name__)


class Supervisor:
    """Keeps background work running until it returns or `close` is called.

    Work that fails is reported, once for each failure, and started again after a pause that
    doubles from `backoff_ms_min` to `backoff_ms_max`; work that then ran for as long as the
    longest pause is forgiven and begins with the shortest again.
    """

    def __init__(
        self,
        clock: Clock,
        chance: Chance,
        *,
        backoff_ms_min: int = 100,
        backoff_ms_max: int = 30_000,
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._backoff_ms_min = backoff_ms_min
        self._backoff_ms_max = backoff_ms_max
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False

    def start(self, name: str, work: Work) -> None:
        """Calls `work` soon, and again after each failure. The name is free again once it returns.

        `work` is stopped by cancelling it: it cleans up in `finally` and lets the
        `CancelledError` pass.
        """
        assert not self._is_closed, f"{name} was started after close"
        assert name not in self._tasks, f"{name} is running already"
        task = asyncio.get_running_loop().create_task(self._keep_running(name, work), name=name)
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name))

    @property
    def running(self) -> list[str]:
        """The names of what runs or waits to be started again, oldest first."""
        return list(self._tasks)

    async def close(self, deadline_ms: int = 5_000) -> None:
        """Cancels everything and waits for it, but no longer than the deadline.

        What has not stopped by then is reported and left behind. Nothing can be started after.
        """
        self._is_closed = True
        stopping = list(self._tasks.values())
        for task in stopping:
            task.cancel()
        deadline = asyncio.get_running_loop().create_task(self._clock.sleep_ms(deadline_ms))
        try:
            while (left := [task for task in stopping if not task.done()]) and not deadline.done():
                await asyncio.wait([*left, deadline], return_when=asyncio.FIRST_COMPLETED)
        finally:
            deadline.cancel()
            await asyncio.wait([deadline])
        if left:
            names = ", ".join(task.get_name() for task in left)
            log.error("tasks did not stop", tasks=names, deadline_ms=deadline_ms)

    async def _keep_running(self, name: str, work: Work) -> None:
        this = asyncio.current_task()
        assert this is not None, "a coroutine runs in a task"
        failures = 0
        while True:
            started_ms = self._clock.monotonic_ms()
            try:
                await work()
                return
            except asyncio.CancelledError as error:
                # Without a request to stop, it comes from a cancelled future that the work
                # awaited, and would otherwise end the work without a word.
                if this.cancelling():
                    raise
                failure: BaseException = error
            except Exception as error:  # noqa: BLE001 - whatever it was, it is reported here.
                failure = error
            if this.cancelling():
                log.error("task failed while stopping", failure=failure, task=name)
                return
            if self._clock.monotonic_ms() - started_ms >= self._backoff_ms_max:
                failures = 0
            pause_ms = self._pause_ms(failures)
            failures += 1
            log.error("task failed", failure=failure, task=name, restart_ms=pause_ms)
            del failure  # Its traceback holds every frame, and this one sleeps for a while.
            await self._clock.sleep_ms(pause_ms)

    def _pause_ms(self, failures: int) -> int:
        # The exponent is bounded too: work may fail for years.
        pause_ms = min(self._backoff_ms_min * 2 ** min(failures, 32), self._backoff_ms_max)
        return jittered_ms(self._chance, pause_ms)
