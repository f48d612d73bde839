"""Reading what groups had settled and committed before a start, without keeping others waiting."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from riverlog.broker.group_log import GroupLog
from riverlog.broker.offsets_topic import OffsetsTopic
from riverlog.groups.errors import CoordinatorLoading, CoordinatorUnavailable
from riverlog.groups.facts import Restored
from riverlog.groups.group import Group
from riverlog.runtime.clock import Clock
from riverlog.runtime.tasks import Supervisor

# A log of so many pieces is read while its first request waits.
PIECES_AT_ONCE = 2


class GroupLoading:
    """Which logs of groups have been read; `groups` has what they told."""

    def __init__(
        self,
        topic: OffsetsTopic,
        clock: Clock,
        tasks: Supervisor,
        groups: dict[str, Group],
        follow: Callable[[Group], None],
    ) -> None:
        self._topic = topic
        self._clock = clock
        self._tasks = tasks
        self._groups = groups
        self._follow = follow
        self._read: set[int] = set()
        self._being_read: set[int] = set()

    def check(self, group_id: str) -> None:
        """Returns if the group's log has been read, or is short enough to be read at once.

        Raises `CoordinatorUnavailable` if there is none, `CoordinatorLoading` if it takes longer.
        """
        try:
            self._check(*self._find(group_id))
        except OSError as error:
            raise _unreadable(error) from error

    def check_all(self) -> None:
        """As `check`, for every group there is or may be."""
        try:
            for index, log in self._topic.logs():
                self._check(index, log)
        except OSError as error:
            raise _unreadable(error) from error

    def begin_all(self) -> None:
        """Has every log read, in its time; one that cannot be read is left to who asks for it."""
        with suppress(OSError):
            for index, log in self._topic.logs():
                self._begin(index, log)

    def logs_read(self) -> list[GroupLog]:
        """The logs that have been read to their end."""
        with suppress(OSError):
            return [log for index, log in self._topic.logs() if index in self._read]
        return []

    def log_of(self, group_id: str) -> GroupLog:
        """The group's log; raises `CoordinatorUnavailable` or `OSError`."""
        return self._find(group_id)[1]

    def _find(self, group_id: str) -> tuple[int, GroupLog]:
        found = self._topic.log_of(group_id)
        if found is None:
            raise CoordinatorUnavailable("nobody has asked for a coordinator yet")
        return found

    def _check(self, index: int, log: GroupLog) -> None:
        self._begin(index, log)
        if index not in self._read:
            raise CoordinatorLoading("committed offsets are being read")

    def _begin(self, index: int, log: GroupLog) -> None:
        if index in self._read or index in self._being_read:
            return
        loaded: dict[str, Group] = {}
        unready = log.make_ready()
        for _ in range(PIECES_AT_ONCE):
            if unready is not None or log.is_read:
                break
            self._read_on(log, loaded)
            unready = log.make_ready()
        if log.is_read:
            self._finish(index, log, loaded)
            return
        self._being_read.add(index)
        name = f"read committed offsets of partition {index}"
        self._tasks.start(name, partial(self._read_all, index, log, loaded, unready))

    async def _read_all(
        self,
        index: int,
        log: GroupLog,
        loaded: dict[str, Group],
        unready: asyncio.Future[None] | None,
    ) -> None:
        while not log.is_read:
            if unready is not None:
                await unready
            self._read_on(log, loaded)
            await self._clock.sleep_ms(0)
            unready = log.make_ready()
        self._being_read.discard(index)
        self._finish(index, log, loaded)

    @staticmethod
    def _read_on(log: GroupLog, loaded: dict[str, Group]) -> None:
        for group_id, fact in log.read_on():
            group = loaded.get(group_id)
            if group is None:
                group = loaded[group_id] = Group(group_id)
            group.apply(fact)

    def _finish(self, index: int, log: GroupLog, loaded: dict[str, Group]) -> None:
        self._read.add(index)
        now_ms = self._clock.monotonic_ms()
        for group in loaded.values():
            group.apply(Restored(now_ms))
            if group.is_blank:
                log.rebase(group.group_id, None)
            else:
                self._groups[group.group_id] = group
                self._follow(group)


def _unreadable(error: OSError) -> CoordinatorUnavailable:
    return CoordinatorUnavailable(f"the groups' log cannot be read: {error.strerror}")
