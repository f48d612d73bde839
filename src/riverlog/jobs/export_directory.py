"""The directory of an export: a table for everyone, and our notes out of their sight.

    _riverlog/manifest.json    which files the table has, and where in the topic it goes on
    _riverlog/staged/…         files being written; no reader looks into names with an underscore
    partition=0/…              the table's files

A file is written under `staged` and synced; then the manifest that names it is put in place: that
is the commit. Only then it moves to where readers find it. Whoever opens the directory next
finishes the moves of a commit, and removes what no manifest names.
"""

from collections.abc import Iterable

from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.export_manifest import DataFile, Manifest
from riverlog.stores.disk import Disk, File, opened
from riverlog.stores.small_file import DamagedFile, read_small_file, write_small_file

NOTES = "_riverlog"
MANIFEST = "manifest.json"
STAGED = "staged"


class ExportDirectory:
    """One that only one process uses at a time: the caller sees to that."""

    def __init__(self, disk: Disk, path: str) -> None:
        """Opens or makes it, and ends what a crash has left half done.

        Raises `JobRefused` if something else is in there, `JobFailed` if files of the table are
        missing or the manifest is damaged, `OSError`.
        """
        self._disk = disk
        self.path = path
        self._notes = f"{path}/{NOTES}"
        self._staged = f"{self._notes}/{STAGED}"
        self._durable_directories: set[str] = set()
        self.manifest = self._read() if disk.exists(path) else None
        if self.manifest is None:
            self._claim()
        self._finish()

    def commit(self, manifest: Manifest, added: Iterable[DataFile] = ()) -> None:
        """Makes this the manifest, and the added files, written and synced, part of the table.

        All or nothing, whenever the machine stops.
        """
        added = tuple(added)
        if added:
            self._disk.sync_directory(self._staged)
        write_small_file(self._disk, f"{self._notes}/{MANIFEST}", manifest.to_bytes())
        self.manifest = manifest
        self._move(added)

    def adopt(self, file: DataFile, attempt: str) -> None:
        """Takes what one attempt has staged for the file that will be committed.

        Raises `JobFailed` if it is not there as it was told of.
        """
        made = f"{self._staged}/{staged_name(file)}{attempt}"
        try:
            with opened(self._disk.open(made)) as found:
                is_whole = found.size() == file.size_bytes
        except FileNotFoundError:
            is_whole = False
        if not is_whole:
            raise JobFailed(
                f"{made} was written, and is not here: all machines have to share {self.path}"
            )
        self._disk.rename(made, f"{self._staged}/{staged_name(file)}")

    def discard_staged(self) -> None:
        """Removes files that never came to a commit, such as those of attempts that failed."""
        files = () if self.manifest is None else self.manifest.files
        committed = {staged_name(file) for file in files}
        for name in self._disk.list(self._staged):
            if name not in committed:
                self._disk.remove(f"{self._staged}/{name}")

    def _read(self) -> Manifest | None:
        try:
            return Manifest.from_bytes(read_small_file(self._disk, f"{self._notes}/{MANIFEST}"))
        except FileNotFoundError:
            others = [name for name in self._disk.list(self.path) if name != NOTES]
            if others:
                raise JobRefused(
                    f"{self.path} holds {others[0]} and no export; name an empty directory"
                ) from None
            return None
        except (DamagedFile, ValueError) as error:
            raise JobFailed(
                f"{self._notes}/{MANIFEST} cannot be read ({error}); restore it from a backup, or"
                " export into another directory"
            ) from None

    def _claim(self) -> None:
        """Makes the directories, durably."""
        for path in (self.path, self._notes, self._staged):
            self._disk.make_directory(path)
            self._disk.sync_directory(path.rpartition("/")[0] or "/")

    def _finish(self) -> None:
        """Ends the moves of the last commit, and removes files that never came to one."""
        self.discard_staged()
        files = () if self.manifest is None else self.manifest.files
        staged = set(self._disk.list(self._staged))
        committed = [file for file in files if staged_name(file) in staged]
        if committed:
            # Who was killed has perhaps not synced the manifest we see, and a move must not
            # outlive it.
            self._disk.sync_directory(self._notes)
        self._move(committed)
        present = {
            f"{directory}/{name}"
            for directory in {file.directory for file in files}
            if self._disk.exists(f"{self.path}/{directory}")
            for name in self._disk.list(f"{self.path}/{directory}")
        }
        missing = [file.path for file in files if file.path not in present]
        if missing:
            raise JobFailed(
                f"{self.path}/{missing[0]} is missing and was part of the table; restore it from a"
                " backup, or export into another directory"
            )

    def _move(self, files: Iterable[DataFile]) -> None:
        directories = set()
        for file in files:
            self._make_directory(file.directory)
            directories.add(file.directory)
            self._disk.rename(f"{self._staged}/{staged_name(file)}", f"{self.path}/{file.path}")
        for directory in directories:
            self._disk.sync_directory(f"{self.path}/{directory}")
        if directories:
            self._disk.sync_directory(self._staged)

    def _make_directory(self, name: str) -> None:
        """Durable also if another process has made it, who may not have come to syncing it."""
        if name not in self._durable_directories:
            self._disk.make_directory(f"{self.path}/{name}")
            self._disk.sync_directory(self.path)
            self._durable_directories.add(name)


def create_staged(disk: Disk, path: str, file: DataFile, attempt: str = "") -> File:
    """Makes a file of the table at `path` that is no part of it yet.

    Whoever writes needs no more than the path: it may be another process than the one that
    commits. Several that may write the same file name their `attempt`, and one is adopted.
    """
    staged = f"{path}/{NOTES}/{STAGED}/{staged_name(file)}{attempt}"
    if disk.exists(staged):
        disk.remove(staged)
    return disk.create(staged)


def staged_name(file: DataFile) -> str:
    """What a file is called before it is part of the table."""
    return file.path.replace("/", ".")
