"""How much of the disk partitions take: looked up on the disk, out of the loop's way."""

from collections.abc import Iterable
from typing import NamedTuple

from riverlog.broker.topic_files import TopicFiles
from riverlog.log.segment import LOG_SUFFIX
from riverlog.stores.disk import Disk, opened
from riverlog.stores.disk_space import DiskSpace, SpaceOf
from riverlog.stores.syncer import Syncer, apart

PartitionKey = tuple[bytes, int]


class Taken(NamedTuple):
    """What was found: the room of the disk, and the sizes in bytes of partitions."""

    space: DiskSpace
    sizes_bytes: dict[PartitionKey, int]


class DiskUse:
    """The data directory `root`, measured.

    A partition's size is that of its segment files; the last of them has room written ahead.
    """

    def __init__(self, disk: Disk, syncer: Syncer, space: SpaceOf, root: str) -> None:
        self._disk = disk
        self._syncer = syncer
        self._space = space
        self._files = TopicFiles(disk, root)
        self.root = root

    async def measure(self, partitions: Iterable[PartitionKey]) -> Taken:
        """The sizes of these partitions, by topic id and index; raises `OSError`."""
        directories = {key: self._files.partition_directories(*key)[-1] for key in partitions}
        found: list[Taken] = []

        def work() -> None:
            sizes = {key: self._size(directory) for key, directory in directories.items()}
            found.append(Taken(self._space(self.root), sizes))

        await apart(self._syncer, work)
        return found[0]

    def _size(self, directory: str) -> int:
        try:
            names = self._disk.list(directory)
        except FileNotFoundError:
            return 0  # Nothing was written yet.
        return sum(self._file_size(f"{directory}/{n}") for n in names if n.endswith(LOG_SUFFIX))

    def _file_size(self, path: str) -> int:
        try:
            with opened(self._disk.open(path)) as file:
                return file.size()
        except FileNotFoundError:
            return 0  # It has been deleted since it was listed.
