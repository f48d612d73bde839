"""What the figures depend on: whose processor time it was, and on which disk the files are."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
WORKSHOP = REPOSITORY / ".bench"

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_MIB = 1024 * 1024

# Files in memory sync at once: nothing durable can be measured there.
_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs", "devtmpfs"}


class CpuWatch:
    """Tells what share of all processors neither we nor our children used since it was made.

    Disk work that the kernel does on our behalf in threads of its own counts as foreign.
    """

    def __init__(self) -> None:
        self._before = _busy_total_own_s()

    def foreign_share(self) -> float:
        busy, total, own = (
            after - before for after, before in zip(_busy_total_own_s(), self._before, strict=True)
        )
        return min(max((busy - own) / total, 0.0), 1.0) if total > 0 else 0.0


def _busy_total_own_s() -> tuple[float, float, float]:
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, idle, iowait, irq, softirq, steal = (int(text) for text in fields)
    # Interrupts are left out of what is busy: our own loopback traffic comes as such.
    busy = user + nice + system + steal
    total = busy + idle + iowait + irq + softirq
    own = sum(os.times()[:4]) + sum(map(_cpu_s_with_children, children_of(os.getpid())))
    return busy / _TICKS_PER_S, total / _TICKS_PER_S, own


def children_of(pid: int) -> list[int]:
    """The processes that `pid` has started and that still run."""
    children: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children


def cpu_s(pid: int) -> tuple[float, float]:
    """The processor time a process has used, in its own code and in the kernel."""
    user, system, _, _ = _times(pid)
    return user / _TICKS_PER_S, system / _TICKS_PER_S


def _cpu_s_with_children(pid: int) -> float:
    try:
        ended = sum(_times(pid)) / _TICKS_PER_S
    except OSError:
        return 0.0
    return ended + sum(map(_cpu_s_with_children, children_of(pid)))


def _times(pid: int) -> tuple[int, int, int, int]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    user, system, children_user, children_system = (int(text) for text in fields)
    return user, system, children_user, children_system


def rss_mb(pid: int, field: str = "VmRSS") -> float:
    """The memory a process holds now, in MiB; with "VmHWM", the most it ever held."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)


def disk_mb(directory: Path) -> float:
    """What the files in `directory` take on the disk, in MiB, holes not counted."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return sum(path.stat().st_blocks * 512 for path in files) / _MIB


@contextmanager
def workshop() -> Iterator[Path]:
    """A new directory on the disk that this repository is on; gone at the end of the block."""
    # It stays, for others may be at work in it; git sees nothing of it.
    WORKSHOP.mkdir(exist_ok=True)
    (WORKSHOP / ".gitignore").write_text("*\n")
    kind = file_system(WORKSHOP)
    if kind in _MEMORY_FILE_SYSTEMS:
        raise SystemExit(f"{WORKSHOP} is on {kind}: take figures on a real disk")
    place = Path(tempfile.mkdtemp(dir=WORKSHOP))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def file_system(path: Path) -> str:
    """The kind of file system `path` is on, such as ext4."""
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, mounted_kind, *_ = line.split()
        if path.is_relative_to(mount) and len(mount) >= len(best):
            best, kind = mount, mounted_kind
    return kind


def description() -> dict[str, object]:
    """What a reader must know to compare: only ratios carry over to another machine."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "file_system": file_system(REPOSITORY),
    }


def _processor() -> str:
    """Its name, as the kernel tells it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
