"""What there is to know of the machine: room, limits, memory, speed of its processor, clock."""

import os
import platform
import resource
import time
from typing import NamedTuple

from riverlog.records.builder import build_batch
from riverlog.records.crc import crc32c
from riverlog.records.record import Record, iterate

UNKNOWN = "unknown"

_CRC_BYTES = 4 << 20
_CRC_ROUNDS = 8
_RECORDS = 2_000
_RECORD_ROUNDS = 10
_MOUNTS = "/proc/self/mounts"
_MAPS = "/proc/self/maps"


class Machine(NamedTuple):
    """What was found. `memory_bytes` and `clock_resolution_ns` are 0 where nobody can tell."""

    file_system: str
    free_bytes: int
    open_files_max: int
    python: str
    cpu_count: int
    memory_bytes: int
    crc_bytes_per_s: int
    records_per_s: int
    clock_resolution_ns: int
    now_ms: int
    has_eatmydata: bool


def look_at_machine(directory: str) -> Machine:
    """Looks, and lets the processor work for a tenth of a second; raises `OSError`."""
    room = os.statvfs(directory)
    files_max, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Machine(
        file_system=file_system_of(directory, _read(_MOUNTS)),
        free_bytes=room.f_bavail * room.f_frsize,
        open_files_max=files_max if files_max != resource.RLIM_INFINITY else 2**31 - 1,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        cpu_count=_cpu_count(),
        memory_bytes=_memory_bytes(),
        crc_bytes_per_s=_crc_rate(),
        records_per_s=_record_rate(),
        clock_resolution_ns=round(time.get_clock_info("monotonic").resolution * 1e9),
        now_ms=time.time_ns() // 1_000_000,
        has_eatmydata="libeatmydata" in _read(_MAPS),
    )


def file_system_of(directory: str, mounts: str) -> str:
    """The kind of file system a directory is on, by the kernel's list of mounts."""
    path = os.path.realpath(directory)
    found, kind = "", UNKNOWN
    for line in mounts.splitlines():
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        # The kernel writes blanks in names as \040.
        mount = parts[1].replace("\\040", " ")
        is_above = path == mount or path.startswith(mount.rstrip("/") + "/")
        if is_above and len(mount) >= len(found):
            found, kind = mount, parts[2]
    return kind


def _read(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""  # Only Linux has these.


def _cpu_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def _crc_rate() -> int:
    data = os.urandom(_CRC_BYTES)
    start_ns = time.perf_counter_ns()
    for _ in range(_CRC_ROUNDS):
        crc32c(data)
    return _CRC_BYTES * _CRC_ROUNDS * 1_000_000_000 // (time.perf_counter_ns() - start_ns)


def _record_rate() -> int:
    """Records a second that Python itself reads out of a batch: what one core is worth here."""
    batch = build_batch([Record(number, 0, b"key", bytes(100)) for number in range(_RECORDS)])
    start_ns = time.perf_counter_ns()
    for _ in range(_RECORD_ROUNDS):
        for _ in iterate(batch, decompressed_bytes_max=len(batch)):
            pass
    return _RECORDS * _RECORD_ROUNDS * 1_000_000_000 // (time.perf_counter_ns() - start_ns)
