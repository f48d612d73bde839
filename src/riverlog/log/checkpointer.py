"""Writes a partition's checkpoints, now and then, out of everyone's way."""

from collections.abc import Sequence

from riverlog.log.checkpoint import CHECKPOINT_NAME, Checkpoint, freeze
from riverlog.log.epochs import Epochs
from riverlog.log.producers import Producers
from riverlog.log.segment import Segment
from riverlog.log.tail import Mark
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import write_small_file
from riverlog.stores.syncer import Outcome, Syncer


class Checkpointer:
    """Knows how much of one partition no checkpoint covers, and when the next one is due.

    What stands before `covered_offset` a durable checkpoint has told of. If it `is_wanted`, the
    next one is not put off until enough is owed.
    """

    def __init__(
        self, disk: Disk, syncer: Syncer, directory: str, owed_bytes: int, covered_offset: int
    ) -> None:
        self._disk = disk
        self._syncer = syncer
        self._path = f"{directory}/{CHECKPOINT_NAME}"
        self._is_writing = False
        self.owed_bytes = owed_bytes
        self.covered_offset = covered_offset
        self.is_wanted = False

    def is_due(self, every_bytes: int) -> bool:
        """Whether recovery would have to scan too much if the log ended here, or one is wanted."""
        return not self._is_writing and (self.is_wanted or self.owed_bytes >= every_bytes)

    def keep(self, checkpoint: Checkpoint, covered_bytes: int) -> None:
        """Writes a checkpoint whose place is durable, apart from the loop.

        `covered_bytes` is what was owed when it was taken. If writing fails, the checkpoint
        before stays good: only recovery has more to do.
        """
        self._is_writing = True
        self.is_wanted = False
        content = checkpoint.to_bytes()

        def ended(outcomes: list[Outcome]) -> None:
            self._is_writing = False
            if outcomes[0] is None:
                self.owed_bytes -= covered_bytes
                self.covered_offset = max(self.covered_offset, checkpoint.next_offset)

        disk, path = self._disk, self._path
        self._syncer.run_apart(lambda: write_small_file(disk, path, content), ended)

    def keep_last(self, checkpoint: Checkpoint) -> None:
        """Writes the checkpoint of a clean end, durable when it returns; raises `OSError`."""
        write_small_file(self._disk, self._path, checkpoint.to_bytes())


def owed_bytes(segments: Sequence[Segment], last: Checkpoint | None) -> int:
    """How much of a log stands behind its last checkpoint."""
    if last is None:
        return sum(segment.size_bytes for segment in segments)
    behind = [segment for segment in segments if segment.base_offset >= last.base_offset]
    is_there = bool(behind) and behind[0].base_offset == last.base_offset
    covered = min(last.position, behind[0].size_bytes) if is_there else 0
    return sum(segment.size_bytes for segment in behind) - covered


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
        mark.segment.last_append_ms,
    )
