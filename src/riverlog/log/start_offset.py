"""Where a log begins, in a small file of its own: durable before anybody is told, or files go."""

import asyncio
import json
from collections.abc import Sequence

from riverlog.log.damage import Damage, Report, read_checked
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import write_small_file
from riverlog.stores.syncer import Outcome, Syncer

START_NAME = "log-start"


def read_start(disk: Disk, directory: str, report: Report) -> int:
    """The first offset that is still there; 0 if nothing says so, or it was damaged."""
    path = f"{directory}/{START_NAME}"
    content = read_checked(disk, path, report)
    if content is None:
        return 0
    try:
        return start_in(content)
    except ValueError as error:
        report(Damage(path, 0, len(content), str(error), path))
        return 0


def start_in(content: bytes) -> int:
    """What the file says; raises `ValueError` if it says something else."""
    try:
        return int(json.loads(content)["log_start_offset"])
    except (KeyError, TypeError, ValueError):
        raise ValueError("this is no start of a log") from None


class StartOffset:
    """The first offset of a partition; only ever moves on. Belongs to one event loop.

    `offset` is what is durable, and so what everyone may be told.
    """

    def __init__(self, disk: Disk, syncer: Syncer, directory: str, offset: int) -> None:
        self._disk = disk
        self._syncer = syncer
        self._path = f"{directory}/{START_NAME}"
        self.offset = offset
        self._is_writing = False
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def move_to(self, offset: int) -> asyncio.Future[None] | None:
        """Done once the log begins at `offset`, durably; None if it does already.

        The partition's directory must be there. Fails with `OSError`; it begins where it did.
        """
        if offset <= self.offset:
            return None
        moved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((offset, moved))
        if not self._is_writing:
            self._write()
        return moved

    def _write(self) -> None:
        """One at a time: of two that are under way, the older could come last."""
        self._is_writing = True
        waiting, self._waiting = self._waiting, []
        # What was asked for while a later one was written must not be written over that.
        offset = max(self.offset, *(wanted for wanted, _ in waiting))
        content = json.dumps({"log_start_offset": offset}).encode()

        def ended(outcomes: list[Outcome]) -> None:
            self._is_writing = False
            if outcomes[0] is None:
                self.offset = max(self.offset, offset)
            _tell([moved for _, moved in waiting], outcomes[0])
            if self._waiting and not self._is_writing:
                self._write()

        disk, path = self._disk, self._path
        self._syncer.run_apart(lambda: write_small_file(disk, path, content), ended)


def _tell(waiting: Sequence[asyncio.Future[None]], outcome: Outcome) -> None:
    for moved in waiting:
        if moved.done():
            continue
        if outcome is None:
            moved.set_result(None)
        else:
            moved.set_exception(outcome)
