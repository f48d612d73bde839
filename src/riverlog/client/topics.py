"""Topics as a whole: make, list, describe, change and delete them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from riverlog.client.cluster import Cluster
from riverlog.client.codes import failure
from riverlog.client.errors import ClientError, UnknownTopic
from riverlog.client.metadata import TopicView, read_topic
from riverlog.client.offsets import Place, find
from riverlog.client.waiting import Deadline
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

BROKERS_CHOICE = -1
_TOPIC_RESOURCE = 2
_SET, _DELETE = 0, 1
# The source of a config that was set on the topic itself.
_OF_THE_TOPIC = 1


class TopicConfig(NamedTuple):
    """One config of a topic. `is_default` unless it was set on the topic itself."""

    name: str
    value: str | None
    is_default: bool
    is_read_only: bool
    documentation: str


class Topics:
    """What can be asked of topics; every call takes `timeout_ms`, or else the client's."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def create(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
        timeout_ms: int | None = None,
    ) -> None:
        """Makes a topic, durably; the broker chooses what is not given. Raises `TopicExists`."""
        deadline = self._cluster.deadline(timeout_ms)
        topic = CreatableTopic(
            name=name,
            num_partitions=BROKERS_CHOICE if partitions is None else partitions,
            replication_factor=BROKERS_CHOICE if replication_factor is None else replication_factor,
            assignments=[],
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in (configs or {}).items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=deadline.left_ms)
        response = await self._cluster.ask(
            request, CreateTopicsResponse, deadline, is_repeatable=False
        )
        _check(name, response.topics[0].error_code, response.topics[0].error_message)

    async def delete(self, name: str, *, timeout_ms: int | None = None) -> None:
        """Deletes a topic with all its records; raises `UnknownTopic`."""
        deadline = self._cluster.deadline(timeout_ms)
        # The two fields are those of newer and of older versions; only one of them is sent.
        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=name)], topic_names=[name], timeout_ms=deadline.left_ms
        )
        response = await self._cluster.ask(
            request, DeleteTopicsResponse, deadline, is_repeatable=False
        )
        self._cluster.forget([name])
        _check(name, response.responses[0].error_code, response.responses[0].error_message)

    async def list(self, *, timeout_ms: int | None = None) -> Sequence[TopicView]:
        """Every topic there is, internal ones too, by name."""
        return await self._views(None, self._cluster.deadline(timeout_ms))

    async def describe(self, name: str, *, timeout_ms: int | None = None) -> TopicView:
        """One topic as it is now; raises `UnknownTopic`."""
        return (await self._views([name], self._cluster.deadline(timeout_ms)))[0]

    async def offsets(
        self, name: str, place: Place = "latest", *, timeout_ms: int | None = None
    ) -> dict[int, int]:
        """The offset of a place in every partition; "latest" is where the next record goes."""
        return await find(self._cluster, name, place, None, self._cluster.deadline(timeout_ms))

    async def configs(self, name: str, *, timeout_ms: int | None = None) -> Sequence[TopicConfig]:
        """All configs of a topic, by name."""
        resource = DescribeConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None
        )
        request = DescribeConfigsRequest(resources=[resource], include_documentation=True)
        response = await self._cluster.ask(
            request, DescribeConfigsResponse, self._cluster.deadline(timeout_ms)
        )
        result = response.results[0]
        _check(name, result.error_code, result.error_message)
        found = [
            TopicConfig(
                name=config.name,
                value=config.value,
                is_default=config.config_source != _OF_THE_TOPIC,
                is_read_only=config.read_only,
                documentation=config.documentation or "",
            )
            for config in result.configs
        ]
        return sorted(found)

    async def set_configs(
        self, name: str, configs: Mapping[str, str | None], *, timeout_ms: int | None = None
    ) -> None:
        """Changes these configs and no others; None puts one back to its default."""
        changes = [
            AlterableConfig(
                name=key, config_operation=_DELETE if value is None else _SET, value=value
            )
            for key, value in configs.items()
        ]
        resource = AlterConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=name, configs=changes
        )
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        response = await self._cluster.ask(
            request, IncrementalAlterConfigsResponse, self._cluster.deadline(timeout_ms)
        )
        _check(name, response.responses[0].error_code, response.responses[0].error_message)

    async def add_partitions(self, name: str, total: int, *, timeout_ms: int | None = None) -> None:
        """Makes so many partitions of a topic; there can only be more than before."""
        deadline = self._cluster.deadline(timeout_ms)
        topic = CreatePartitionsTopic(name=name, count=total, assignments=None)
        request = CreatePartitionsRequest(
            topics=[topic], timeout_ms=deadline.left_ms, validate_only=False
        )
        response = await self._cluster.ask(
            request, CreatePartitionsResponse, deadline, is_repeatable=False
        )
        self._cluster.forget([name])
        _check(name, response.results[0].error_code, response.results[0].error_message)

    async def _views(self, names: Sequence[str] | None, deadline: Deadline) -> Sequence[TopicView]:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        backoff = self._cluster.backoff()
        while True:
            response = await self._cluster.ask(request, MetadataResponse, deadline)
            self._cluster.learn(response)
            trouble: ClientError | None = None
            for topic in response.topics:
                if topic.error_code:
                    trouble = failure(topic.error_code, f"topic {topic.name}")
                    # A topic may be on its way in or out while all are listed.
                    if topic.error_code != ErrorCode.LEADER_NOT_AVAILABLE and (
                        names is not None or not isinstance(trouble, UnknownTopic)
                    ):
                        raise trouble
            if trouble is None:
                return sorted(read_topic(topic) for topic in response.topics)
            await self._cluster.pause(backoff, deadline, trouble)


def _check(name: str, code: int, told: str | None) -> None:
    if code:
        raise failure(code, f"topic {name}", told)
