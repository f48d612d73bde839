"""A broker with a bug put in on purpose: `python planted.py BUG serve …`.

Each bug is one that was found in some system: a sync left out, or done again until it says yes.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from unittest import mock

from riverlog.cli.main import main
from riverlog.log import producers
from riverlog.log.producers import Producers
from riverlog.log.recovery import Recovered, Recovery
from riverlog.log.waiting import Waiting
from riverlog.stores.disk import OsDisk, OsFile

BUGS: dict[str, Callable[[], None]] = {}


def bug(plant: Callable[[], None]) -> Callable[[], None]:
    BUGS[plant.__name__] = plant
    return plant


@bug
def skips_the_sync_of_segments() -> None:
    _leave_unsynced(lambda path: "/topics/" in path and path.endswith(".log"))


@bug
def skips_the_sync_of_the_journal() -> None:
    _leave_unsynced(lambda path: path.endswith(".journal"))


@bug
def skips_the_sync_of_metadata() -> None:
    _leave_unsynced(lambda path: "/metadata/" in path)


@bug
def skips_the_sync_of_small_files() -> None:
    _leave_unsynced(lambda path: path.endswith(".draft"))


@bug
def skips_the_sync_of_directories() -> None:
    _replace(OsDisk, "sync_directory", lambda disk, path: None)


@bug
def acknowledges_early() -> None:
    _replace(Waiting, "tell", lambda waiting, end_offset, told: told(None))


@bug
def syncs_again_after_a_failure() -> None:
    sync = OsFile.sync

    def insist(file: OsFile) -> None:
        with suppress(OSError):
            sync(file)
            return
        sync(file)

    _replace(OsFile, "sync", insist)


@bug
def forgets_producers_at_restart() -> None:
    run = Recovery.run

    def forget(opening: Recovery) -> Recovered:
        return run(opening)._replace(producers=Producers())

    _replace(Recovery, "run", forget)


@bug
def tells_producers_of_gaps_it_has_made() -> None:
    _replace(producers, "_check_refused", lambda producer, header: None)


def _replace(owner: object, name: str, bug: object) -> None:
    mock.patch.object(owner, name, bug).start()


def _leave_unsynced(is_meant: Callable[[str], bool]) -> None:
    open_file, create_file = OsDisk.open, OsDisk.create

    class Unsynced(OsFile):
        def write_out(self) -> None:
            pass

        def sync(self) -> None:
            pass

    def open_one(disk: OsDisk, path: str) -> OsFile:
        return spoilt(open_file(disk, path), path)

    def create_one(disk: OsDisk, path: str) -> OsFile:
        return spoilt(create_file(disk, path), path)

    def spoilt(file: OsFile, path: str) -> OsFile:
        return Unsynced(file._descriptor) if is_meant(path) else file

    _replace(OsDisk, "open", open_one)
    _replace(OsDisk, "create", create_one)


if __name__ == "__main__":
    BUGS[sys.argv[1]]()
    sys.exit(main(sys.argv[2:]))
