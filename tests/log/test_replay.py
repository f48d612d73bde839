"""What a crash left in the journal is put back where it belongs, once or as often as it takes."""

from collections.abc import Callable
from random import Random

import pytest

from riverlog.log.checkpoint import SEAL_SUFFIX, Seal
from riverlog.log.damage import Damage
from riverlog.log.journal import JournalFile
from riverlog.log.journal_frames import Entry, encode
from riverlog.log.replay import Replay
from riverlog.log.segment import Segment
from riverlog.stores.disk import opened
from riverlog.stores.small_file import write_small_file
from riverlog.testing.simulated_disk import Effect, Fault, Op, PowerCut, SimulatedDisk, Survival
from riverlog.testing.virtual_loop import run
from tests.log.journaled import (
    JOURNAL,
    ROOT,
    Journaled,
    directory_of,
    journal_files,
    key_of,
    new_disk,
    reopened,
    replay,
    unexpected,
)
from tests.log.logs import read_all

SALT = bytes(range(1, 9))
FILE_BYTES = 600
SEGMENT = Segment(f"{ROOT}/0", 10)


def journal_with(
    *frames: list[Entry], number: int = 1, disk: SimulatedDisk | None = None
) -> SimulatedDisk:
    """A disk with a directory of a partition, and a journal file with these frames."""
    disk = disk or new_disk()
    for directory in (JOURNAL, SEGMENT.directory):
        disk.make_directory(directory)
    disk.sync_directory(ROOT)
    data = b"".join(encode(SALT, at, entries) for at, entries in enumerate(frames))
    put(disk, f"{JOURNAL}/{JournalFile(number, SALT).name}", data.ljust(FILE_BYTES, b"\0"))
    return disk


def put(disk: SimulatedDisk, path: str, data: bytes) -> None:
    with opened(disk.create(path)) as file:
        file.write(0, data)
        file.sync()
    disk.sync_directory(path.rpartition("/")[0])


def content(disk: SimulatedDisk, path: str) -> bytes:
    with opened(disk.open(path)) as file:
        return file.read(0, file.size())


def entry(position: int, data: bytes, index: int = 0, segment_offset: int = 10) -> Entry:
    return Entry(key_of(index), segment_offset, position, (data,))


def seal(disk: SimulatedDisk, segment: Segment, size: int, next_offset: int, resume: int) -> None:
    content = Seal(size, next_offset, resume, 0, -1, 0).to_bytes()
    write_small_file(disk, segment.beside(SEAL_SUFFIX), content)


def test_entries_are_written_to_their_places_and_the_journal_goes() -> None:
    disk = journal_with([entry(4, b"efgh")], [entry(8, b"ijkl")])
    put(disk, SEGMENT.path, b"abcd")
    assert replay(disk) == (2, 8)
    assert journal_files(disk) == []
    after = disk.power_cut(Survival.NOTHING)
    assert content(after, SEGMENT.path) == b"abcdefghijkl"
    assert journal_files(after) == []


def test_files_are_replayed_in_the_order_of_their_numbers() -> None:
    disk = journal_with([entry(0, b"later")], number=10)
    journal_with([entry(0, b"early"), entry(5, b"!")], number=9, disk=disk)
    put(disk, SEGMENT.path, b"")
    replay(disk)
    assert content(disk, SEGMENT.path) == b"later!"


def test_without_a_journal_there_is_nothing_to_do() -> None:
    disk = new_disk()
    assert replay(disk) == (0, 0)
    assert not disk.exists(JOURNAL)


def test_what_is_no_journal_file_is_left_alone() -> None:
    disk = journal_with()
    names = ["notes.txt", "1-xyz.journal", "0000000001-0102030405060708.journal.0-0.torn"]
    for name in names:
        put(disk, f"{JOURNAL}/{name}", b"not ours")
    replay(disk)
    assert disk.list(JOURNAL) == sorted(names)


def test_a_file_that_was_never_finished_is_removed_in_silence() -> None:
    disk = journal_with()
    put(disk, f"{JOURNAL}/{JournalFile(1, bytes(8)).name}", bytes(100))
    put(disk, f"{JOURNAL}/{JournalFile(1, bytes([7] * 8)).name}", b"")
    replay(disk)
    assert journal_files(disk) == []


def test_topics_that_are_gone_get_nothing() -> None:
    disk = journal_with([entry(0, b"deleted"), entry(0, b"no directory", index=5)])
    put(disk, SEGMENT.path, b"")
    gone = Replay(
        disk, ROOT, lambda key: None if key == key_of(0) else directory_of(key), unexpected
    )
    assert gone.run() == (0, 0)
    assert content(disk, SEGMENT.path) == b""
    assert not disk.exists(f"{ROOT}/5")
    assert journal_files(disk) == []


def test_a_segment_that_was_removed_is_not_made_again() -> None:
    disk = journal_with([entry(0, b"removed")])
    assert replay(disk) == (0, 0)
    assert disk.list(SEGMENT.directory) == []


def test_what_stands_before_a_seal_is_not_written_again() -> None:
    disk = journal_with([entry(0, b"ABCD")])
    put(disk, SEGMENT.path, b"abcd")
    seal(disk, SEGMENT, 4, 14, 14)
    assert replay(disk) == (0, 0)
    assert content(disk, SEGMENT.path) == b"abcd"


def test_what_stands_behind_a_seal_belongs_to_the_next_segment() -> None:
    disk = journal_with([entry(2, b"cdEF")], [entry(6, b"GH")])
    put(disk, SEGMENT.path, b"abcd")
    seal(disk, SEGMENT, 4, 14, 14)
    replay(disk)
    after = disk.power_cut(Survival.NOTHING)
    assert content(after, SEGMENT.path) == b"abcd"
    assert content(after, Segment(SEGMENT.directory, 14).path) == b"EFGH"


def test_what_a_seal_gave_up_stays_given_up() -> None:
    disk = journal_with([entry(2, b"cdEF")])
    put(disk, SEGMENT.path, b"abcd")
    seal(disk, SEGMENT, 4, 14, 20)
    assert replay(disk) == (0, 0)
    assert not disk.exists(Segment(SEGMENT.directory, 14).path)


def test_what_was_saved_and_sealed_is_not_written_again_and_the_rest_is_given_up() -> None:
    disk = journal_with([entry(4, b"EF")], [entry(6, b"LOST")])
    put(disk, SEGMENT.path, b"abcd")
    saved = Segment(SEGMENT.directory, 14)
    put(disk, saved.path, b"EF")
    seal(disk, SEGMENT, 4, 14, 14)
    seal(disk, saved, 2, 16, 20)
    assert replay(disk) == (0, 0)
    assert content(disk, saved.path) == b"EF"


def test_a_seal_of_an_empty_segment_ends_the_search() -> None:
    disk = journal_with([entry(0, b"abcd")])
    put(disk, SEGMENT.path, b"")
    seal(disk, SEGMENT, 0, 10, 10)
    assert replay(disk) == (0, 0)


def test_torn_and_damaged_frames_are_kept_aside_and_reported_and_the_rest_is_put_back() -> None:
    disk = journal_with([entry(0, b"ab")], [entry(2, b"cd")], [entry(4, b"ef")], [entry(6, b"gh")])
    put(disk, SEGMENT.path, b"")
    (name,) = journal_files(disk)
    data = bytearray(content(disk, f"{JOURNAL}/{name}"))
    size = len(encode(SALT, 0, [entry(0, b"ab")]))
    data[size + 30] ^= 1
    data[4 * size - 20] ^= 1
    disk.remove(f"{JOURNAL}/{name}")
    put(disk, f"{JOURNAL}/{name}", bytes(data))
    damages: list[Damage] = []
    replay(disk, damages.append)
    assert [(damage.position, damage.kept_in[-8:]) for damage in damages] == [
        (size, ".damaged"),
        (3 * size, f"{3 * size}-0.torn"[-8:]),
    ]
    assert content(disk, damages[0].kept_in) == data[size : 2 * size]
    assert content(disk, damages[1].kept_in) == data[3 * size : 4 * size].rstrip(b"\0")
    assert content(disk, SEGMENT.path) == b"ab\0\0ef"


def test_what_an_earlier_process_failed_to_keep_does_not_keep_it_from_starting() -> None:
    disk = journal_with([entry(0, b"abc")])
    put(disk, SEGMENT.path, bytes(100))
    file = disk.open(SEGMENT.path)
    file.write(0, b"ab")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.TRUNCATE})))
    with pytest.raises(OSError, match="Input/output"):
        file.truncate(50)
    after = disk.process_crash()
    assert replay(after).size_bytes == 3
    assert content(after.power_cut(Survival.NOTHING), SEGMENT.path)[:3] == b"abc"


def test_every_segment_is_synced_once_however_many_there_are() -> None:
    numbers = range(80)
    frames = [[entry(at, b"%04d" % n, segment_offset=n) for n in numbers] for at in (0, 4)]
    disk = journal_with(*frames)
    for number in numbers:
        put(disk, Segment(SEGMENT.directory, number).path, b"")
    calls = len(disk.trace)
    replay(disk)
    synced = [path for op, path in disk.trace[calls:] if op is Op.SYNC]
    assert len(synced) <= len(set(synced)) == len(numbers)
    after = disk.power_cut(Survival.NOTHING)
    for number in numbers:
        expected = b"%04d" % number * 2
        assert content(after, Segment(SEGMENT.directory, number).path) == expected


def test_a_full_disk_does_not_keep_it_from_starting_where_only_a_torn_frame_is_left() -> None:
    disk = journal_with([entry(0, b"ab")])
    put(disk, SEGMENT.path, bytes(100))
    (name,) = journal_files(disk)
    data = content(disk, f"{JOURNAL}/{name}")
    disk.remove(f"{JOURNAL}/{name}")
    put(disk, f"{JOURNAL}/{name}", data[:200] + b"torn" + data[204:])
    taken = disk.free_bytes
    disk.capacity_bytes = 1 << 20
    free = taken()
    assert free is not None
    disk.capacity_bytes -= free
    damages: list[Damage] = []
    replay(disk, damages.append)
    assert journal_files(disk) == []
    assert len(damages) == 1
    assert b"torn" in content(disk, damages[0].kept_in)
    assert content(disk, SEGMENT.path)[:2] == b"ab"


@pytest.mark.parametrize("effect", [Effect.CRASH_BEFORE, Effect.CRASH_AFTER, Effect.EIO])
def test_a_replay_interrupted_anywhere_is_made_good_by_the_next(effect: Effect) -> None:
    def begin() -> SimulatedDisk:
        disk = journal_with([entry(4, b"efgh"), entry(0, b"other", 1)], [entry(8, b"ijkl")])
        journal_with([entry(12, b"mn")], [entry(5, b"?", 1)], number=2, disk=disk)
        put(disk, SEGMENT.path, b"abcdef")
        seal(disk, SEGMENT, 6, 16, 16)
        disk.make_directory(f"{ROOT}/1")
        put(disk, Segment(f"{ROOT}/1", 10).path, b"")
        disk.sync_directory(ROOT)
        return disk

    def check(disk: SimulatedDisk, place: object) -> None:
        replay(disk)
        after = disk.power_cut(Survival.NOTHING)
        assert content(after, SEGMENT.path) == b"abcdef", place
        assert content(after, Segment(SEGMENT.directory, 16).path) == b"ghijklmn", place
        assert content(after, Segment(f"{ROOT}/1", 10).path) == b"other?", place
        assert journal_files(after) == [], place

    ops = frozenset(Op) if effect is Effect.EIO else None
    at = _each_until_it_ends(effect, begin, lambda disk: replay(disk), check, ops)
    assert at >= 10


def test_a_life_is_served_whole_wherever_its_recovery_was_interrupted() -> None:
    async def live(disk: SimulatedDisk) -> None:
        several = Journaled(disk, 3)
        await several.lean(b"a", b"b", b"c")

    async def look(disk: SimulatedDisk) -> list[list[bytes | None]]:
        several = reopened(disk, 3)
        return [[value for _, value in read_all(log)] for log in several.logs]

    def begin() -> SimulatedDisk:
        disk = new_disk()
        run(live(disk))
        return disk.power_cut(Survival.NOTHING)

    expected = [
        [b"%b to %d" % (value, index) for value in (b"opening", b"synced", b"a", b"b", b"c")]
        for index in range(3)
    ]

    def check(disk: SimulatedDisk, place: object) -> None:
        assert run(look(disk)) == expected, place
        assert run(look(disk.power_cut(Survival.NOTHING))) == expected, place

    _each_until_it_ends(Effect.CRASH_AFTER, begin, lambda disk: run(look(disk)), check)


def _each_until_it_ends(
    effect: Effect,
    begin: Callable[[], SimulatedDisk],
    act: Callable[[SimulatedDisk], object],
    check: Callable[[SimulatedDisk, object], None],
    ops: frozenset[Op] | None = None,
) -> int:
    """Interrupts `act` at every call in turn, until it comes to its end; gives how many."""
    at = 0
    while True:
        at += 1
        disk = begin()
        disk.inject(Fault(effect, at) if ops is None else Fault(effect, at, ops=ops))
        try:
            act(disk)
        except PowerCut:
            is_over = False
        except OSError:
            is_over = False
        else:
            is_over = True
        disk.clear_faults()
        for survival in Survival:
            check(disk.copy(Random(at)).power_cut(survival), (at, survival))
        check(disk.process_crash(), (at, "kill"))
        if is_over:
            return at
