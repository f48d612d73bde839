"""After a failed sync: the file is closed where it is sound, and what others kept is saved."""

from collections.abc import Sequence

from riverlog.log.checkpoint import SEAL_SUFFIX, Seal
from riverlog.log.damage import Report
from riverlog.log.epochs import Epochs
from riverlog.log.producers import Producers
from riverlog.log.recovery import Recovery
from riverlog.log.segment import Segment, hash_of
from riverlog.log.tail import Mark, mark_of
from riverlog.records.batch import read_header
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import replace_file, write_small_file


def close_at(mark: Mark) -> None:
    """Forgets what was written to a segment behind a place that its file is known to have kept."""
    segment = mark.segment
    segment.size_bytes = mark.size_bytes
    segment.next_offset = mark.next_offset
    segment.hash_so_far = mark.hash_so_far
    segment.record_count = mark.record_count
    segment.index.cut(mark.size_bytes)
    segment.is_sealed = True


def seal_at(disk: Disk, mark: Mark, resume_offset: int) -> None:
    """Writes down that a segment ends at `mark`, durably; raises `OSError`.

    The log goes on at `resume_offset`; the offsets in between stay unused.
    """
    segment = mark.segment
    seal = Seal(
        mark.size_bytes,
        mark.next_offset,
        resume_offset,
        mark.hash_so_far,
        segment.max_timestamp_ms,
        mark.record_count,
        segment.last_append_ms,
    )
    write_small_file(disk, segment.beside(SEAL_SUFFIX), seal.to_bytes())


def saved(disk: Disk, directory: str, base_offset: int, data: bytes, resume_offset: int) -> Segment:
    """A closed segment that holds `data`, all of it durable; raises `OSError`.

    An earlier try may have left a file of the same name, which may be sealed: it is replaced, and
    is whole at any time.
    """
    segment = Segment(directory, base_offset)
    replace_file(disk, segment.path, data)
    position = 0
    while position < len(data):
        header = read_header(data, position)
        segment.add(header, position)
        position += header.size_bytes
    segment.hash_so_far = hash_of(data)
    segment.is_sealed = True
    seal_at(disk, mark_of(segment), resume_offset)
    return segment


def state_on_disk(
    disk: Disk, directories: Sequence[str], epoch: int, producers: Producers, report: Report
) -> tuple[Epochs, Producers]:
    """The epochs and producers of what the files have kept; raises `OSError`.

    Those of `producers` whose batches are lost must begin with them again.
    """
    found = Recovery(disk, directories, epoch_max=epoch, rewrites=False, report=report).run()
    found.producers.miss(producers)
    return found.epochs, found.producers
