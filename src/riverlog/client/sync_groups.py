"""Consumer groups as a whole, without asyncio."""

from collections.abc import Sequence

from riverlog.client.groups import GroupProgress, Groups, GroupView, ListedGroup
from riverlog.client.loop_thread import LoopThread
from riverlog.client.offsets import Place


class SyncGroups:
    """What can be asked of groups; every call takes `timeout_ms`, or else the client's."""

    def __init__(self, loop: LoopThread, groups: Groups) -> None:
        self._loop = loop
        self._groups = groups

    def list(self, *, timeout_ms: int | None = None) -> Sequence[ListedGroup]:
        """Every group there is, by name."""
        return self._loop.run(self._groups.list(timeout_ms=timeout_ms))

    def describe(self, name: str, *, timeout_ms: int | None = None) -> GroupView:
        """One group as it is now; raises `UnknownGroup`."""
        return self._loop.run(self._groups.describe(name, timeout_ms=timeout_ms))

    def progress(self, name: str, *, timeout_ms: int | None = None) -> Sequence[GroupProgress]:
        """How far the group has read, in every partition that it reads or has read."""
        return self._loop.run(self._groups.progress(name, timeout_ms=timeout_ms))

    def reset(
        self,
        name: str,
        topic: str,
        place: Place,
        *,
        partitions: Sequence[int] | None = None,
        is_dry_run: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[int, int]:
        """Sets a group without members to a place in a topic, durably; raises `GroupInUse`."""
        work = self._groups.reset(
            name, topic, place, partitions=partitions, is_dry_run=is_dry_run, timeout_ms=timeout_ms
        )
        return self._loop.run(work)

    def delete(self, name: str, *, timeout_ms: int | None = None) -> None:
        """Deletes a group and what it has committed; raises `UnknownGroup` or `GroupInUse`."""
        self._loop.run(self._groups.delete(name, timeout_ms=timeout_ms))
