"""Changing topics that exist: a durable fact first, in effect when it returns."""

from collections.abc import Mapping, Sequence

from riverlog.broker.config_changes import ConfigChange, changed
from riverlog.broker.errors import InternalTopic
from riverlog.broker.internal_topics import INTERNAL_TOPICS
from riverlog.broker.metadata import Metadata
from riverlog.broker.topic_configs import check
from riverlog.cluster.topics import Edit
from riverlog.log.settings import LogSettings


class TopicChanges:
    """What clients may change about the topics of one broker.

    Each raises `NoSuchTopic`, or why not; with `only_check` nothing is changed.
    """

    def __init__(self, metadata: Metadata, defaults: LogSettings) -> None:
        self._metadata = metadata
        self._defaults = defaults

    async def set_configs(
        self, name: str, configs: Mapping[str, str], *, only_check: bool = False
    ) -> None:
        """The topic has these settings of its own, and no others; raises `InvalidConfig`."""
        await self._configure(name, lambda _: configs, only_check)

    async def change_configs(
        self, name: str, changes: Sequence[ConfigChange], *, only_check: bool = False
    ) -> None:
        """Changes some of a topic's settings and leaves the others; raises `InvalidConfig`."""
        await self._configure(
            name, lambda configs: changed(configs, changes, self._defaults), only_check
        )

    async def add_partitions(self, name: str, count: int, *, only_check: bool = False) -> int:
        """The topic has `count` partitions, more than before; gives how many more.

        A check does not wait: what is begun right after it is decided on the same grounds. Raises
        `InvalidPartitionCount`, or `InternalTopic` for one that the broker rests on.
        """
        if name in INTERNAL_TOPICS:
            raise InternalTopic(f"topic '{name}' is the broker's own, and keeps its partitions")
        added = self._metadata.check_added(name, count)
        if not only_check:
            await self._metadata.add_partitions(name, count)
        return added

    async def _configure(self, name: str, edit: Edit, only_check: bool) -> None:
        def checked(configs: Mapping[str, str]) -> Mapping[str, str]:
            edited = edit(configs)
            check(edited)
            return edited

        if only_check:
            self._metadata.check_configured(name, checked)
        else:
            await self._metadata.configure_topic(name, checked)
