"""Where topics lie on the disk, and a copy of what the metadata log says of each.

The copy stands in a topic's own directory, so that damage to the metadata log costs no topic.
"""

import json

from riverlog.cluster.topics import TopicCreated
from riverlog.log.damage import Report, read_checked
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import write_small_file
from riverlog.stores.syncer import Outcome, Syncer

TOPIC_FILE = "topic.json"
_ID_DIGITS = 32


class TopicFiles:
    """The `topics` directory of one data directory."""

    def __init__(self, disk: Disk, root: str) -> None:
        self._disk = disk
        self._root = root
        self._topics = f"{root}/topics"

    def partition_directories(self, topic_id: bytes, index: int) -> list[str]:
        """Every directory down to a partition's own, outermost first."""
        topic = f"{self._topics}/{topic_id.hex()}"
        return [self._root, self._topics, topic, f"{topic}/{index}"]

    def partitions(self, topic_id: bytes) -> set[int]:
        """The partitions of a topic that have a directory; others were never written to."""
        try:
            names = self._disk.list(f"{self._topics}/{topic_id.hex()}")
        except FileNotFoundError:
            return set()
        return {int(name) for name in names if name.isdecimal()}

    def note(self, topic: TopicCreated) -> None:
        """Leaves a copy of the fact, durably; raises `OSError`."""
        directory = f"{self._topics}/{topic.topic_id.hex()}"
        self._disk.make_directory(self._topics)
        self._disk.make_directory(directory)
        content = {
            "name": topic.name,
            "partitions": topic.partition_count,
            "configs": dict(topic.configs),
        }
        write_small_file(self._disk, f"{directory}/{TOPIC_FILE}", json.dumps(content).encode())
        self._disk.sync_directory(self._topics)
        self._disk.sync_directory(self._root)

    def topic_ids(self) -> list[bytes]:
        """The topics that have a directory."""
        if not self._disk.exists(self._topics):
            return []
        names = self._disk.list(self._topics)
        return [bytes.fromhex(n) for n in names if len(n) == _ID_DIGITS and _is_hex(n)]

    def read(self, topic_id: bytes, report: Report) -> TopicCreated | None:
        """The copy in a topic's directory; None when it is missing or damaged."""
        path = f"{self._topics}/{topic_id.hex()}/{TOPIC_FILE}"
        content = read_checked(self._disk, path, report)
        if content is None:
            return None
        topic = json.loads(content)
        return TopicCreated(topic_id, topic["name"], topic["partitions"], topic["configs"])

    def remove(self, topic_id: bytes) -> None:
        """Takes away the files of a topic whose end is a durable fact; raises `OSError`."""
        directory = f"{self._topics}/{topic_id.hex()}"
        if self._disk.exists(directory):
            self._remove_tree(directory)
            self._disk.sync_directory(self._topics)

    def _remove_tree(self, directory: str) -> None:
        for name in self._disk.list(directory):
            path = f"{directory}/{name}"
            # Only partitions are directories, and their names are numbers.
            if name.isdigit():
                self._remove_tree(path)
            else:
                self._disk.remove(path)
        self._disk.remove_directory(directory)


class TopicCopies:
    """Keeps the copies in step with the facts, out of the loop's way.

    One change at a time for each topic, the latest last, so that an older copy never replaces a
    newer one. What fails, or is not done when the broker ends, the next start makes good.
    """

    def __init__(self, files: TopicFiles, syncer: Syncer) -> None:
        self._files = files
        self._syncer = syncer
        # What is to be there, by topic; None for nothing. Beside it those being worked on.
        self._wanted: dict[bytes, TopicCreated | None] = {}
        self._busy: set[bytes] = set()
        self._is_closed = False

    def keep(self, topic: TopicCreated) -> None:
        """There will be a copy of `topic`."""
        self._want(topic.topic_id, topic)

    def remove(self, topic_id: bytes) -> None:
        """There will be no files of this topic."""
        self._want(topic_id, None)

    def close(self) -> None:
        """Begins nothing more; what has begun ends with its syncer."""
        self._is_closed = True

    def _want(self, topic_id: bytes, topic: TopicCreated | None) -> None:
        self._wanted[topic_id] = topic
        if topic_id not in self._busy and not self._is_closed:
            self._begin(topic_id)

    def _begin(self, topic_id: bytes) -> None:
        topic = self._wanted.pop(topic_id)
        self._busy.add(topic_id)

        def work() -> None:
            if topic is None:
                self._files.remove(topic_id)
            else:
                self._files.note(topic)

        def done(_outcomes: list[Outcome]) -> None:
            self._busy.discard(topic_id)
            if topic_id in self._wanted and not self._is_closed:
                self._begin(topic_id)

        self._syncer.run_apart(work, done)


def _is_hex(text: str) -> bool:
    return all(digit in "0123456789abcdef" for digit in text)
