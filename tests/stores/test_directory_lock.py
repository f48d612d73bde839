"""A second process is kept out of a data directory for as long as the first one lives."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from riverlog.stores.directory_lock import AlreadyInUse, DirectoryLock

HOLDER = """
import sys
from riverlog.stores.directory_lock import DirectoryLock
lock = DirectoryLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_one_is_refused_in_one_sentence_that_names_the_directory(tmp_path: Path) -> None:
    with DirectoryLock(str(tmp_path)), pytest.raises(AlreadyInUse) as refused:
        DirectoryLock(str(tmp_path))
    assert str(refused.value).startswith(f"{tmp_path} is in use by another process; ")
    assert "\n" not in str(refused.value)


def test_a_lock_leaves_nothing_behind_and_can_be_taken_again(tmp_path: Path) -> None:
    lock = DirectoryLock(str(tmp_path))
    lock.release()
    lock.release()
    with DirectoryLock(str(tmp_path)):
        assert list(tmp_path.iterdir()) == []
    DirectoryLock(str(tmp_path)).release()


def test_a_refusal_leaves_no_descriptor_open(tmp_path: Path) -> None:
    with DirectoryLock(str(tmp_path)):
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(AlreadyInUse):
            DirectoryLock(str(tmp_path))
        assert len(os.listdir("/proc/self/fd")) == before


def test_only_directories_that_are_there_can_be_held(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError):
        DirectoryLock(str(tmp_path / "none"))
    with pytest.raises(NotADirectoryError):
        DirectoryLock(str(tmp_path / "file"))


def test_a_killed_process_lets_the_next_one_in(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyInUse):
            DirectoryLock(str(tmp_path))
        holder.send_signal(signal.SIGKILL)
    DirectoryLock(str(tmp_path)).release()
