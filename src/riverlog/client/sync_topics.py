"""Topics as a whole, without asyncio."""

from collections.abc import Mapping, Sequence

from riverlog.client.loop_thread import LoopThread
from riverlog.client.metadata import TopicView
from riverlog.client.offsets import Place
from riverlog.client.topics import TopicConfig, Topics


class SyncTopics:
    """What can be asked of topics; every call takes `timeout_ms`, or else the client's."""

    def __init__(self, loop: LoopThread, topics: Topics) -> None:
        self._loop = loop
        self._topics = topics

    def create(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
        timeout_ms: int | None = None,
    ) -> None:
        """Makes a topic, durably; the broker chooses what is not given. Raises `TopicExists`."""
        self._loop.run(
            self._topics.create(
                name,
                partitions=partitions,
                replication_factor=replication_factor,
                configs=configs,
                timeout_ms=timeout_ms,
            )
        )

    def delete(self, name: str, *, timeout_ms: int | None = None) -> None:
        """Deletes a topic with all its records; raises `UnknownTopic`."""
        self._loop.run(self._topics.delete(name, timeout_ms=timeout_ms))

    def list(self, *, timeout_ms: int | None = None) -> Sequence[TopicView]:
        """Every topic there is, internal ones too, by name."""
        return self._loop.run(self._topics.list(timeout_ms=timeout_ms))

    def describe(self, name: str, *, timeout_ms: int | None = None) -> TopicView:
        """One topic as it is now; raises `UnknownTopic`."""
        return self._loop.run(self._topics.describe(name, timeout_ms=timeout_ms))

    def offsets(
        self, name: str, place: Place = "latest", *, timeout_ms: int | None = None
    ) -> dict[int, int]:
        """The offset of a place in every partition; "latest" is where the next record goes."""
        return self._loop.run(self._topics.offsets(name, place, timeout_ms=timeout_ms))

    def configs(self, name: str, *, timeout_ms: int | None = None) -> Sequence[TopicConfig]:
        """All configs of a topic, by name."""
        return self._loop.run(self._topics.configs(name, timeout_ms=timeout_ms))

    def set_configs(
        self, name: str, configs: Mapping[str, str | None], *, timeout_ms: int | None = None
    ) -> None:
        """Changes these configs and no others; None puts one back to its default."""
        self._loop.run(self._topics.set_configs(name, configs, timeout_ms=timeout_ms))

    def add_partitions(self, name: str, total: int, *, timeout_ms: int | None = None) -> None:
        """Makes so many partitions of a topic; there can only be more than before."""
        self._loop.run(self._topics.add_partitions(name, total, timeout_ms=timeout_ms))
