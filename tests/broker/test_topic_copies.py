"""Copies of topics, written one at a time and the latest last, however slow the disk is."""

from collections.abc import Callable, Sequence

from riverlog.broker.topic_files import TopicCopies, TopicFiles
from riverlog.cluster.topics import TopicCreated
from riverlog.log.damage import Damage
from riverlog.stores.syncer import Done, InlineSyncer, Job
from tests.broker.brokers import ROOT, new_disk

TOPIC = TopicCreated(bytes(15) + b"\1", "a", 1, {})
OTHER = TopicCreated(bytes(15) + b"\2", "b", 1, {})


class SlowSyncer:
    """Keeps jobs until somebody runs them, in whatever order."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        self.waiting.append(lambda: InlineSyncer().run(jobs, done))

    def run_apart(self, job: Job, done: Done) -> None:
        self.run([job], done)

    def close(self) -> None:
        pass


class Scene:
    """A disk, copies on it, and a syncer that waits to be told."""

    def __init__(self) -> None:
        self.disk = new_disk()
        self.files = TopicFiles(self.disk, ROOT)
        self.syncer = SlowSyncer()
        self.copies = TopicCopies(self.files, self.syncer)

    def run_all(self) -> None:
        while self.syncer.waiting:
            self.syncer.waiting.pop()()

    def read(self, topic: TopicCreated) -> TopicCreated | None:
        damages: list[Damage] = []
        return self.files.read(topic.topic_id, damages.append)


def test_of_many_changes_the_last_is_kept_and_those_between_are_skipped() -> None:
    scene = Scene()
    for count in range(1, 6):
        scene.copies.keep(TOPIC._replace(partition_count=count))
    assert len(scene.syncer.waiting) == 1
    scene.syncer.waiting.pop()()
    assert scene.read(TOPIC) == TOPIC
    assert len(scene.syncer.waiting) == 1
    scene.run_all()
    assert scene.read(TOPIC) == TOPIC._replace(partition_count=5)


def test_topics_do_not_wait_for_each_other() -> None:
    scene = Scene()
    scene.copies.keep(TOPIC)
    scene.copies.keep(OTHER)
    assert len(scene.syncer.waiting) == 2
    scene.run_all()
    assert (scene.read(TOPIC), scene.read(OTHER)) == (TOPIC, OTHER)


def test_a_topic_removed_while_it_is_written_leaves_no_files() -> None:
    scene = Scene()
    scene.copies.keep(TOPIC)
    scene.copies.remove(TOPIC.topic_id)
    scene.run_all()
    assert scene.files.topic_ids() == []


def test_nothing_begins_after_the_end() -> None:
    scene = Scene()
    scene.copies.keep(TOPIC)
    scene.copies.keep(TOPIC._replace(partition_count=2))
    scene.copies.close()
    scene.run_all()
    assert scene.read(TOPIC) == TOPIC
    scene.copies.keep(OTHER)
    assert scene.syncer.waiting == []
