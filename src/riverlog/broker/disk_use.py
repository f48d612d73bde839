"""How much of the disk partitions take: looked up on the disk, out of the loop's way."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from riverlog.broker.topic_files import TopicFiles
from riverlog.log.segment import LOG_SUFFIX
from riverlog.stores.disk import Disk, opened
from riverlog.stores.disk_space import DiskSpace, SpaceOf
from riverlog.stores.syncer import Syncer, apart

PartitionKey = tuple[bytes, int]


class Taken(NamedTuple):
    """What was found: the room of the disk, and the sizes in bytes of partitions that have any."""

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

    async def measure(self, indexes_by_topic: Mapping[bytes, Iterable[int]]) -> Taken:
        """The sizes of these partitions of topics by their ids; raises `OSError`.

        What it costs follows what was written, not how many partitions there could be.
        """
        found: list[Taken] = []

        def work() -> None:
            sizes_bytes: dict[PartitionKey, int] = {}
            for topic_id, indexes in indexes_by_topic.items():
                for index in self._files.partitions(topic_id).intersection(indexes):
                    directory = self._files.partition_directories(topic_id, index)[-1]
                    sizes_bytes[topic_id, index] = self._size(directory)
            found.append(Taken(self._space(self.root), sizes_bytes))

        await apart(self._syncer, work)
        return found[0]

    def _size(self, directory: str) -> int:
        try:
            names = self._disk.list(directory)
        except FileNotFoundError:
            return 0  # It has been deleted since it was listed.
        return sum(self._file_size(f"{directory}/{n}") for n in names if n.endswith(LOG_SUFFIX))

    def _file_size(self, path: str) -> int:
        try:
            with opened(self._disk.open(path)) as file:
                return file.size()
        except FileNotFoundError:
            return 0  # It has been deleted since it was listed.
