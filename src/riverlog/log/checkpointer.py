"""Writes a partition's checkpoints, now and then, out of everyone's way."""

from riverlog.log.checkpoint import CHECKPOINT_NAME, Checkpoint, freeze
from riverlog.log.epochs import Epochs
from riverlog.log.producers import Producers
from riverlog.log.tail import Mark
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import write_small_file
from riverlog.stores.syncer import Outcome, Syncer


class Checkpointer:
    """Knows the last checkpoint of one partition, and when the next one is due."""

    def __init__(self, disk: Disk, syncer: Syncer, directory: str, last: Checkpoint | None) -> None:
        self._disk = disk
        self._syncer = syncer
        self._path = f"{directory}/{CHECKPOINT_NAME}"
        self._last = last
        self._is_writing = False

    def is_due(self, mark: Mark, every_bytes: int) -> bool:
        """Whether recovery would have to scan too much if the log ended at `mark`."""
        if self._is_writing:
            return False
        last = self._last
        covered = 0
        if last is not None and last.base_offset == mark.segment.base_offset:
            covered = last.position
        return mark.size_bytes - covered >= every_bytes

    def keep(self, checkpoint: Checkpoint) -> None:
        """Writes a checkpoint whose place is durable, apart from the loop.

        If that fails, the one before stays good: only recovery has more to do.
        """
        self._is_writing = True
        content = checkpoint.to_bytes()

        def ended(outcomes: list[Outcome]) -> None:
            self._is_writing = False
            if outcomes[0] is None:
                self._last = checkpoint

        disk, path = self._disk, self._path
        self._syncer.run_apart(lambda: write_small_file(disk, path, content), ended)

    def keep_last(self, checkpoint: Checkpoint) -> None:
        """Writes the checkpoint of a clean end, durable when it returns; raises `OSError`."""
        write_small_file(self._disk, self._path, checkpoint.to_bytes())


def checkpoint_at(
    mark: Mark, log_start_offset: int, epochs: Epochs, producers: Producers
) -> Checkpoint:
    """The state of a partition at `mark`, the end of all that was written to it."""
    return Checkpoint(
        mark.segment.base_offset,
        mark.size_bytes,
        mark.next_offset,
        log_start_offset,
        mark.hash_so_far,
        mark.segment.max_timestamp_ms,
        mark.record_count,
        tuple(epochs),
        freeze(producers),
    )
