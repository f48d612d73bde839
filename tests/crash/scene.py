"""A small log with everything in it that can be damaged, before and after a crash."""

import asyncio
from dataclasses import dataclass, field
from random import Random

from riverlog.log.beginning import remove_files
from riverlog.log.damage import Damage
from riverlog.log.settings import LogSettings
from riverlog.records.batch import HEADER_SIZE, read_header
from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import SimulatedDisk, Survival
from riverlog.testing.virtual_loop import run
from tests.log.logs import DIRECTORY, NOW_MS, Read, append, open_log, read_all

# Two records a batch, four batches a segment; checkpoints only where a life ended in peace.
SETTINGS = LogSettings(segment_records=8)
LAST_EPOCH = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """A batch in a file."""

    start: int
    end: int
    offsets: frozenset[int]


@dataclass(slots=True)
class Scene:
    """A log at rest: what it holds, and where in its files.

    In the file `unsure`, which neither a seal nor a checkpoint covers, the log ends where its
    batches do.
    """

    disk: SimulatedDisk
    records: dict[int, bytes | None]
    next_offset: int
    unsure: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, list[Stretch]] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """What a broker made of a damaged log."""

    damages: list[Damage]
    served: dict[int, bytes | None]
    served_later: dict[int, bytes | None]
    new_offset: int
    kept: list[bytes]


def new_disk() -> SimulatedDisk:
    """A disk with an empty directory for a log."""
    disk = SimulatedDisk(Random(0))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    return disk


def closed_scene() -> Scene:
    """After a clean stop: two sealed segments and one to write on, covered by a checkpoint."""
    disk = new_disk()
    for epoch, batches in ((1, 5), (2, 2), (3, 3)):
        run(_live(disk, epoch, batches, closes=True))
    return _at_rest(disk)


def crashed_scene() -> Scene:
    """After a power cut: the checkpoint ends in a sealed segment; one more and a tail follow."""
    disk = new_disk()
    for epoch, batches in ((1, 5), (2, 2), (3, 7)):
        run(_live(disk, epoch, batches, closes=epoch < 3))
    return _at_rest(disk, unsure="00000000000000000024.log")


def killed_scene() -> Scene:
    """After three kills: several epochs in one file, and no checkpoint at all."""
    disk = new_disk()
    for epoch, batches in ((1, 3), (2, 2), (3, 2)):
        run(_live(disk, epoch, batches, closes=False, settings=LogSettings()))
        disk = disk.process_crash()
    return _at_rest(disk, unsure="00000000000000000000.log")


def scarred_scene() -> Scene:
    """After a clean stop, with damage that was found before."""
    scene = closed_scene()
    for name, number in (("00000000000000000000.log", 1), ("00000000000000000016.log", 0)):
        data = bytearray(scene.files[name])
        data[scene.batches[name][number].start + HEADER_SIZE] ^= 1
        put(scene.disk, f"{DIRECTORY}/{name}", data)
    damages: list[Damage] = []

    async def find() -> None:
        log = open_log(scene.disk, epoch=4, settings=SETTINGS, report=damages.append)
        read_all(log)
        log.close()

    run(find())
    assert len(damages) == 2
    return _at_rest(scene.disk)


def shortened_scene() -> Scene:
    """After a clean stop: the first segment was let go, and some of the next one deleted."""
    disk = new_disk()
    for epoch, batches in ((1, 5), (2, 2)):
        run(_live(disk, epoch, batches, closes=True))

    async def shorten() -> None:
        log = open_log(disk, epoch=3, settings=SETTINGS)
        deleted = log.delete_before(11)
        assert deleted is not None
        await deleted
        gone = [segment.base_offset for segment in await log.retire(NOW_MS)]
        assert gone == [0]
        remove_files(disk, DIRECTORY, gone)
        for _ in range(3):
            await append(log, b"<%d>" % log.next_offset, b"<%d>" % (log.next_offset + 1))
        log.close()

    run(shorten())
    return _at_rest(disk)


async def _live(
    disk: SimulatedDisk, epoch: int, batches: int, *, closes: bool, settings: LogSettings = SETTINGS
) -> None:
    log = open_log(disk, epoch=epoch, settings=settings)
    for _ in range(batches):
        offset = log.next_offset
        await append(log, b"<%d>" % offset, b"<%d>" % (offset + 1))
    if closes:
        log.close()


def _at_rest(disk: SimulatedDisk, unsure: str = "") -> Scene:
    disk = disk.power_cut(Survival.NOTHING)

    async def look() -> tuple[list[Read], int]:
        log = open_log(disk.copy(Random(0)), epoch=9, settings=SETTINGS)
        return read_all(log), log.next_offset

    records, next_offset = run(look())
    scene = Scene(disk, dict(records), next_offset, unsure)
    for name in disk.list(DIRECTORY):
        if ".damaged" not in name:
            scene.files[name] = content(disk, f"{DIRECTORY}/{name}")
        if name.endswith(".log"):
            scene.batches[name] = stretches(scene.files[name])
    return scene


def stretches(data: bytes) -> list[Stretch]:
    """The batches of a segment file."""
    found = []
    position = 0
    # Zeros may follow; a batch begins with its offset and its length.
    while any(data[position : position + HEADER_SIZE]):
        header = read_header(data, position)
        end = position + header.size_bytes
        offsets = frozenset(range(header.base_offset, header.next_offset))
        found.append(Stretch(position, end, offsets))
        position = end
    return found


def content(disk: SimulatedDisk, path: str) -> bytes:
    """All bytes of a file."""
    with opened(disk.open(path)) as file:
        return file.read(0, file.size())


def put(disk: SimulatedDisk, path: str, data: bytes | bytearray) -> None:
    """Puts `data` in place of what a file holds, durably and behind everyone's back."""
    with opened(disk.open(path)) as file:
        file.truncate(0)
        file.write(0, data)
        file.sync()


def after_damage(scene: Scene, name: str, damaged: bytes) -> Outcome:
    """Puts `damaged` in place of a file, opens the log, writes to it, and opens it once more.

    In some cases the log is opened and closed before, and nothing written or read.
    """
    disk = scene.disk.copy(Random(0))
    put(disk, f"{DIRECTORY}/{name}", damaged)
    damages: list[Damage] = []

    async def idle() -> None:
        open_log(disk, epoch=LAST_EPOCH + 1, settings=SETTINGS, report=damages.append).close()

    async def live() -> tuple[list[Read], int]:
        log = open_log(disk, epoch=LAST_EPOCH + 1, settings=SETTINGS, report=damages.append)
        served = read_all(log)
        log.first_at_or_after(0)
        log.latest_in_time()
        appended = await append(log, b"new", b"newer")
        if len(damaged) % 2:
            log.close()
        return served, appended.base_offset

    async def live_on() -> list[Read]:
        log = open_log(disk, epoch=LAST_EPOCH + 2, settings=SETTINGS, report=lambda _: None)
        await asyncio.sleep(0)
        return read_all(log)

    if len(damaged) % 3 == 0:
        run(idle())
    served, new_offset = run(live())
    disk = disk.power_cut(Survival.NOTHING)
    served_later = run(live_on())
    kept = [
        content(disk, f"{DIRECTORY}/{other}")
        for other in disk.list(DIRECTORY)
        if ".damaged" in other or other.endswith(".torn")
    ]
    return Outcome(damages, dict(served), dict(served_later), new_offset, kept)
