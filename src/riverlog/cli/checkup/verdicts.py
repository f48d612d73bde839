"""What measurements mean for a broker: a verdict and a sentence for each. Decides only."""

from collections.abc import Iterator
from typing import NamedTuple

from riverlog.cli.checkup.disk_speed import DiskSpeed
from riverlog.cli.checkup.machine import Machine
from riverlog.cli.tables import size_text

GOOD = "good"
LOOK = "look"
BAD = "bad"

# No disk keeps bytes for good in less: a bus alone takes as long.
_SYNC_US_LEAST = 12
_MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "fuse", "9p", "afs", "ceph", "gluster")
_FREE_BYTES_MIN = 1 << 30
_OPEN_FILES_MIN = 4096
_MEMORY_BYTES_MIN = 256 << 20
# 2025-01-01: before any Riverlog was made.
_NOW_MS_MIN = 1_735_689_600_000


class Verdict(NamedTuple):
    """One thing that was checked: what was found, how good that is, and what to do about it."""

    subject: str
    found: str
    verdict: str
    advice: str


def judge(disk: DiskSpeed, machine: Machine, jump_ms: int) -> list[Verdict]:
    """A verdict on everything; `jump_ms` is by how much the clock left its course meanwhile."""
    return [
        *_judge_disk(disk, machine),
        *_judge_room(machine),
        *_judge_processor(machine),
        _judge_clock(machine, jump_ms),
    ]


def in_one_sentence(verdicts: list[Verdict], disk: DiskSpeed) -> str:
    """The whole of it."""
    if any(verdict.verdict == BAD for verdict in verdicts):
        return "Do not keep data here that you care for, until what is bad above is mended."
    rate = round(1_000_000 / max(disk.append_us_p50, 0.001))
    said = f"Fit for a broker: one producer gets about {rate:,} durable writes a second"
    if any(verdict.verdict == LOOK for verdict in verdicts):
        return f"{said}; have a look at the advice above."
    return f"{said}, many together far more."


def _judge_disk(disk: DiskSpeed, machine: Machine) -> Iterator[Verdict]:
    found = f"p50 {disk.append_us_p50:,.0f} µs, p99 {disk.append_us_p99:,.0f} µs"
    verdict, advice = GOOD, "Durable writes are quick."
    if machine.has_eatmydata:
        verdict, advice = BAD, "libeatmydata is loaded: no sync does anything. Start without it."
    elif machine.file_system in _MEMORY_FILE_SYSTEMS:
        verdict, advice = BAD, "This is memory: all is gone when the machine stops."
    elif disk.append_us_p50 < _SYNC_US_LEAST:
        verdict = BAD
        advice = (
            "Too fast to be true: syncs seem to do nothing here, and a power cut would cost "
            "acknowledged records. Check the virtual disk's cache mode."
        )
    elif disk.append_us_p50 > 20_000:
        verdict = LOOK
        advice = "Every durable write waits long: a solid-state disk would be far quicker."
    elif disk.append_us_p99 > 20 * disk.append_us_p50 and disk.append_us_p99 > 10_000:
        verdict = LOOK
        advice = "Some syncs take far longer than most: something else uses this disk."
    elif disk.append_us_p50 > 2_000:
        advice = "Durable writes take milliseconds: let producers batch."
    yield Verdict("append and sync, 1 KiB", found, verdict, advice)

    rate = disk.write_bytes_per_s
    slow = rate < 30_000_000
    advice = "Little for a log: it is what all producers share." if slow else "Enough for a log."
    yield Verdict("sequential write", f"{rate / 1e6:,.0f} MB/s", LOOK if slow else GOOD, advice)

    found = f"{disk.files_ms_p50:.1f} ms for {disk.file_count} files"
    slow = disk.files_ms_p50 > 1_000
    advice = "Many busy partitions wait for each other here." if slow else "Many partitions do."
    yield Verdict("many files in turn", found, LOOK if slow else GOOD, advice)


def _judge_room(machine: Machine) -> Iterator[Verdict]:
    kind = machine.file_system
    if kind in _MEMORY_FILE_SYSTEMS:
        yield Verdict("file system", kind, BAD, "It lives in memory; choose a directory on a disk.")
    elif kind.startswith(_NETWORK_FILE_SYSTEMS):
        advice = "What a sync means is up to the other side; a local disk is better."
        yield Verdict("file system", kind, LOOK, advice)
    else:
        yield Verdict("file system", kind, GOOD, "Nothing speaks against it.")

    little = machine.free_bytes < _FREE_BYTES_MIN
    advice = "Little: a full disk refuses records." if little else "A full disk refuses records."
    yield Verdict("free space", size_text(machine.free_bytes), LOOK if little else GOOD, advice)

    few = machine.open_files_max < _OPEN_FILES_MIN
    advice = (
        "Every client takes one, and segments up to 512: raise it with `ulimit -n 65536`."
        if few
        else "Enough: every client takes one, and segments up to 512."
    )
    yield Verdict("open files", f"{machine.open_files_max:,}", LOOK if few else GOOD, advice)

    if machine.memory_bytes:
        little = machine.memory_bytes < _MEMORY_BYTES_MIN
        advice = (
            "Little; lower queued.max.request.bytes." if little else "Most of it caches the log."
        )
        found = size_text(machine.memory_bytes)
        yield Verdict("memory", found, LOOK if little else GOOD, advice)


def _judge_processor(machine: Machine) -> Iterator[Verdict]:
    slow = machine.records_per_s < 200_000
    found = (
        f"{machine.cpu_count} cores, {machine.records_per_s / 1e6:.1f} M records/s read, "
        f"{machine.crc_bytes_per_s / 1e9:.1f} GB/s checked"
    )
    advice = "Slow: let producers batch." if slow else "Quick enough for any disk."
    yield Verdict("processor", found, LOOK if slow else GOOD, advice)
    is_cpython = machine.python.startswith("CPython")
    advice = "What we test with." if is_cpython else "We test with CPython only."
    yield Verdict("Python", machine.python, GOOD if is_cpython else LOOK, advice)


def _judge_clock(machine: Machine, jump_ms: int) -> Verdict:
    found = f"steps of {machine.clock_resolution_ns} ns"
    if machine.now_ms < _NOW_MS_MIN:
        return Verdict("clock", found, BAD, "It is years behind: records would get wrong times.")
    if abs(jump_ms) > 100:
        advice = f"It jumped by {jump_ms} ms just now; let NTP keep it."
        return Verdict("clock", found, LOOK, advice)
    return Verdict("clock", found, GOOD, "It ran evenly while we looked.")
