"""A limit to what a process may take: the kernel ends it, or refuses it more."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

CGROUPS = Path("/sys/fs/cgroup")
LEAVE_S_MAX = 5
# Addresses are not memory: a process has many more than it uses.
ADDRESSES_PER_BYTE = 4


@contextmanager
def memory_limited(pid: int, bytes_max: int) -> Iterator[str]:
    """Holds a process to so much while the block runs; gives by what means.

    A control group counts all the memory it uses, the page cache it could give back included. Where
    none can be made it has a limit of addresses instead, which is coarser.
    """
    for make in (_group_of_version_1, _group_of_version_2):
        with suppress(OSError):
            group = make(pid, bytes_max)
            break
    else:
        addresses = bytes_max * ADDRESSES_PER_BYTE
        resource.prlimit(pid, resource.RLIMIT_AS, (addresses, addresses))
        yield f"RLIMIT_AS of {addresses >> 20} MiB"
        return
    try:
        yield f"control group of {bytes_max >> 20} MiB, {group}"
    finally:
        _leave(group)


def _group_of_version_1(pid: int, bytes_max: int) -> Path:
    return _group(CGROUPS / "memory", "memory.limit_in_bytes", pid, bytes_max)


def _group_of_version_2(pid: int, bytes_max: int) -> Path:
    if "memory" not in (CGROUPS / "cgroup.subtree_control").read_text().split():
        raise OSError("memory is not counted there")
    return _group(CGROUPS, "memory.max", pid, bytes_max)


def _group(parent: Path, limit: str, pid: int, bytes_max: int) -> Path:
    group = parent / f"riverlog-fuzz-{os.getpid()}-{pid}"
    group.mkdir()
    try:
        (group / limit).write_text(str(bytes_max))
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        group.rmdir()
        raise
    return group


def _leave(group: Path) -> None:
    """Takes the group away, once what was in it has ended or is moved out."""
    deadline = monotonic() + LEAVE_S_MAX
    while True:
        with suppress(OSError):
            for pid in (group / "cgroup.procs").read_text().split():
                (group.parent / "cgroup.procs").write_text(pid)
        try:
            group.rmdir()
        except OSError:
            if monotonic() > deadline:
                raise
            sleep(0.05)
        else:
            return
