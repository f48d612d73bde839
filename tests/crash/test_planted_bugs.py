"""Bugs put in on purpose: each must be seen by the very schedules that the log passes unchanged."""

import asyncio
from collections.abc import Callable

import pytest

from riverlog.broker import broker
from riverlog.broker.metadata import Metadata
from riverlog.cluster.facts import BrokerStarted
from riverlog.log import partition, recovery, scan
from riverlog.log.batches import Stretch, in_sequence
from riverlog.log.ending import Ending
from riverlog.log.journal import Journal
from riverlog.log.partition import Appended, Partition
from riverlog.log.producers import Producers
from riverlog.log.recovery import Recovered, Recovery
from riverlog.log.replay import Replay
from riverlog.log.segment import Segment
from riverlog.log.tail import Mark, mark_of
from riverlog.records.batch import BatchHeader, read_header, split
from riverlog.records.crc import Buffer
from riverlog.testing.simulated_disk import SimulatedDisk, SimulatedFile
from tests.crash.schedule import Anomalous
from tests.crash.story import SMALL_JOURNAL
from tests.crash.test_log_crashes import JOURNALED_CHUNKS, explore, lean_on_the_journal

Plant = Callable[[pytest.MonkeyPatch], None]

BUGS: dict[str, Plant] = {}


def bug(plant: Plant) -> Plant:
    BUGS[plant.__name__.strip("_")] = plant
    return plant


@bug
def _skips_every_sync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SimulatedFile, "sync", lambda file: None)


@bug
def _skips_the_sync_of_segments(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedFile.sync

    def skip(file: SimulatedFile) -> None:
        if not (_is_of_a_topic(file._path) and file._path.endswith(".log")):
            sync(file)

    patch.setattr(SimulatedFile, "sync", skip)


@bug
def _skips_the_sync_of_directories(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedDisk.sync_directory

    def skip(disk: SimulatedDisk, path: str) -> None:
        if not _is_of_a_topic(path):
            sync(disk, path)

    patch.setattr(SimulatedDisk, "sync_directory", skip)


@bug
def _skips_the_sync_of_outer_directories(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedDisk.sync_directory

    def skip(disk: SimulatedDisk, path: str) -> None:
        if not _is_of_a_topic(path) or path.rpartition("/")[2].isdigit():
            sync(disk, path)

    patch.setattr(SimulatedDisk, "sync_directory", skip)


@bug
def _acknowledges_early(patch: pytest.MonkeyPatch) -> None:
    durable = Partition.durable

    def hurry(log: Partition, end_offset: int) -> asyncio.Future[None] | None:
        return None if _is_of_a_topic(log._directories[-1]) else durable(log, end_offset)

    patch.setattr(Partition, "durable", hurry)


@bug
def _shows_what_is_not_durable(patch: pytest.MonkeyPatch) -> None:
    append = Partition.append

    def expose(log: Partition, batch: Buffer, header: BatchHeader, now_ms: int) -> Appended:
        appended = append(log, batch, header, now_ms)
        if _is_of_a_topic(log._directories[-1]) and log._end._tail is not None:
            log._end._made_durable(log._end._tail.mark())
        return appended

    patch.setattr(Partition, "append", expose)


@bug
def _takes_repeated_batches_that_come_together(patch: pytest.MonkeyPatch) -> None:
    def produced(data: bytearray, _producers: Producers) -> list[BatchHeader]:
        return [header for _, header in split(data) if header.has_producer]

    patch.setattr(partition, "in_sequence", produced)


@bug
def _forgets_who_sent_what_came_together(patch: pytest.MonkeyPatch) -> None:
    def checked(data: bytearray, producers: Producers) -> list[BatchHeader] | None:
        return None if in_sequence(data, producers) is None else []

    patch.setattr(partition, "in_sequence", checked)


@bug
def _never_syncs_what_came_together(patch: pytest.MonkeyPatch) -> None:
    write_all = Ending.write_all

    def hurry(end: Ending, data: Buffer, stretch: Stretch, now_ms: int) -> None:
        write_all(end, data, stretch, now_ms)
        if end._tail is not None:
            end._made_durable(end._tail.mark())

    patch.setattr(Ending, "write_all", hurry)


@bug
def _ignores_the_checksum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scan, "check_batch", read_header)


@bug
def _forgets_producers_at_restart(patch: pytest.MonkeyPatch) -> None:
    run = Recovery.run

    def forget(opening: Recovery) -> Recovered:
        return run(opening)._replace(producers=Producers())

    patch.setattr(Recovery, "run", forget)


@bug
def _answers_duplicates_at_once(patch: pytest.MonkeyPatch) -> None:
    append, durable = Partition.append, Partition.durable
    duplicates: set[int] = set()

    def note(log: Partition, batch: Buffer, header: BatchHeader, now_ms: int) -> Appended:
        appended = append(log, batch, header, now_ms)
        duplicates.clear()
        if appended.is_duplicate:
            duplicates.add(appended.end_offset)
        return appended

    def answer(log: Partition, end_offset: int) -> asyncio.Future[None] | None:
        return None if end_offset in duplicates else durable(log, end_offset)

    patch.setattr(Partition, "append", note)
    patch.setattr(Partition, "durable", answer)


@bug
def _takes_the_same_epoch_again(patch: pytest.MonkeyPatch) -> None:
    async def start(metadata: Metadata, epoch_seen: int, _producer_id_seen: int) -> None:
        await metadata._record(BrokerStarted(max(metadata.epoch, epoch_seen, 1)))

    patch.setattr(Metadata, "start", start)


@bug
def _believes_what_it_finds_after_a_kill(patch: pytest.MonkeyPatch) -> None:
    """Recovery that reads, but neither writes again nor syncs."""
    init = Recovery.__init__

    def only_look(opening: Recovery, *args: object, **options: object) -> None:
        init(opening, *args, **{**options, "rewrites": False})  # type: ignore[arg-type]  # passed on

    patch.setattr(recovery.Recovery, "__init__", only_look)


@bug
def _gives_producer_ids_before_they_are_taken(patch: pytest.MonkeyPatch) -> None:
    async def hand_out(metadata: Metadata) -> int:
        metadata._next_producer_id += 1
        return metadata._next_producer_id - 1

    patch.setattr(Metadata, "new_producer_id", hand_out)


JOURNAL_BUGS: dict[str, Plant] = {}


def journal_bug(plant: Plant) -> Plant:
    JOURNAL_BUGS[plant.__name__.strip("_")] = plant
    return plant


@journal_bug
def _skips_the_sync_of_the_journal(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedFile.sync

    def skip(file: SimulatedFile) -> None:
        if not file._path.endswith(".journal"):
            sync(file)

    patch.setattr(SimulatedFile, "sync", skip)


@journal_bug
def _skips_the_directory_of_the_journal(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedDisk.sync_directory

    def skip(disk: SimulatedDisk, path: str) -> None:
        if not path.endswith("/journal"):
            sync(disk, path)

    patch.setattr(SimulatedDisk, "sync_directory", skip)


@journal_bug
def _removes_the_journal_before_the_segments_are_synced(patch: pytest.MonkeyPatch) -> None:
    def hurry(journal: Journal) -> None:
        journal._behind.clear()
        journal._trim()

    patch.setattr(Journal, "_catch_up", hurry)


@journal_bug
def _forgets_to_replay_the_journal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Replay, "_put_back", lambda *_: None)


@journal_bug
def _does_not_sync_what_was_replayed(patch: pytest.MonkeyPatch) -> None:
    put_back = Replay._put_back

    def only_write(replay: Replay, segment: Segment, pieces: list[tuple[int, Buffer]]) -> None:
        with pytest.MonkeyPatch.context() as meanwhile:
            meanwhile.setattr(SimulatedFile, "sync", lambda _: None)
            put_back(replay, segment, pieces)

    patch.setattr(Replay, "_put_back", only_write)


@journal_bug
def _journals_files_whose_names_are_not_durable(patch: pytest.MonkeyPatch) -> None:
    of_tail = Ending._of_tail

    def pretend(ending: Ending, mark: Mark | None) -> Mark | None:
        tail = ending._tail
        return of_tail(ending, mark) or (mark_of(tail.segment) if tail else None)

    patch.setattr(Ending, "_of_tail", pretend)


def _is_of_a_topic(path: str) -> bool:
    """Bugs in the metadata log alone would be seen by the first epoch that comes twice."""
    return "/topics/" in path


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)
    with pytest.raises(Anomalous):
        explore(0)


@pytest.mark.parametrize("name", JOURNAL_BUGS)
def test_a_planted_bug_in_the_journal_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)
    lean_on_the_journal(monkeypatch)
    JOURNAL_BUGS[name](monkeypatch)
    with pytest.raises(Anomalous):
        list(map(explore, JOURNALED_CHUNKS[::2]))
