"""What becomes of a batch of records, without asyncio."""

import asyncio
from concurrent.futures import Future
from functools import partial

from riverlog.client.loop_thread import LoopThread
from riverlog.client.outgoing import Published
from riverlog.client.publishing import Publishing


class SyncPublishing:
    """Records that were published together."""

    def __init__(self, loop: LoopThread, publishing: Publishing) -> None:
        self._loop = loop
        self._publishing = publishing

    def __len__(self) -> int:
        return len(self._publishing)

    def results(self) -> list[Published]:
        """Waits for all and tells where each went; raises the first failure there is."""
        return self._loop.run(self._publishing.results())

    def futures(self) -> list[Future[Published]]:
        """A future for every record, in the order they were given."""
        made: list[Future[Published]] = [Future() for _ in range(len(self))]
        self._loop.call(self._chain, made)
        return made

    def _chain(self, made: list[Future[Published]]) -> None:
        for theirs, ours in zip(self._publishing.futures(), made, strict=True):
            theirs.add_done_callback(partial(_copy, ours))


def _copy(ours: Future[Published], theirs: asyncio.Future[Published]) -> None:
    if not ours.set_running_or_notify_cancel():
        return
    failure = theirs.exception()
    if failure is not None:
        ours.set_exception(failure)
    else:
        ours.set_result(theirs.result())
