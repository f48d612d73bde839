"""CreatePartitions, DeleteRecords and what describes a cluster."""

from collections.abc import Sequence

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from riverlog.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from riverlog.protocol.messages.describe_cluster import DescribeClusterRequest
from riverlog.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from riverlog.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.script import script
from tests.conformance.differential.scripts.requests import fetch, fill, list_offsets


@script(ApiKey.CREATE_PARTITIONS)
def partitions_are_added(talk: Conversation) -> None:
    topic = talk.topic(partitions=2)

    def ask(
        step: str,
        count: int,
        assignments: Sequence[Sequence[int]] | None = None,
        *,
        name: str = topic.name,
        validate_only: bool = False,
    ) -> None:
        assigned = None
        if assignments is not None:
            assigned = [CreatePartitionsAssignment(broker_ids=ids) for ids in assignments]
        wanted = CreatePartitionsTopic(name=name, count=count, assignments=assigned)
        talk.ask(step, CreatePartitionsRequest(
            topics=[wanted], timeout_ms=10_000, validate_only=validate_only
        ))  # fmt: skip

    ask("only checked", 3, validate_only=True)
    ask("as many", 2)
    ask("fewer", 1)
    ask("none", 0)
    ask("negative", -1)
    ask("10,000 more", 10_002, validate_only=True)
    ask("10,001 more", 10_003, validate_only=True)
    ask("one more", 3)
    talk.await_topic(topic.name, range(3))
    ask("one more, assigned", 4, [[1]])
    talk.await_topic(topic.name, range(4))
    ask("assigned to nobody", 5, [[]])
    ask("assigned to a stranger", 5, [[7]])
    ask("too few assigned", 6, [[1]])
    ask("too many assigned", 5, [[1], [1]])
    ask("assigned twice", 5, [[1, 1]])
    ask("unknown topic", 3, name=talk.name("unknown"))
    ask("invalid topic", 3, name="no/such name")


@script(ApiKey.CREATE_PARTITIONS)
def a_topic_twice_in_one_request(talk: Conversation) -> None:
    topic = talk.topic()
    wanted = CreatePartitionsTopic(name=topic.name, count=2, assignments=None)
    request = CreatePartitionsRequest(
        topics=[wanted, wanted], timeout_ms=10_000, validate_only=False
    )
    talk.ask("twice", request)


@script(ApiKey.DELETE_RECORDS)
def records_are_deleted_up_to_an_offset(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic, batches=3, count=2)

    def ask(step: str, offset: int, name: str = topic.name, partition: int = 0) -> None:
        place = DeleteRecordsPartition(partition_index=partition, offset=offset)
        topics = [DeleteRecordsTopic(name=name, partitions=[place])]
        talk.ask(step, DeleteRecordsRequest(topics=topics, timeout_ms=10_000))

    ask("beyond the end", 7)
    ask("negative", -2)
    ask("between batches", 2)
    talk.ask("earliest", list_offsets(topic.name, -2), 6)
    talk.ask("before the start", fetch(topic, 1), 12)
    ask("inside a batch", 3)
    talk.ask("from the start", fetch(topic, 3), 12)
    ask("back", 1)
    ask("all", -1)
    talk.ask("at the end", fetch(topic, 6), 12)
    ask("unknown partition", 0, partition=9)
    ask("unknown topic", 0, talk.name("unknown"))


@script(ApiKey.DESCRIBE_CLUSTER)
def the_cluster_is_described(talk: Conversation) -> None:
    talk.ask("plain", DescribeClusterRequest(include_cluster_authorized_operations=False))
    talk.ask("operations", DescribeClusterRequest(include_cluster_authorized_operations=True))
    if talk.version >= 1:
        for kind in (2, 3):
            request = DescribeClusterRequest(
                include_cluster_authorized_operations=False, endpoint_type=kind
            )
            talk.ask(f"endpoint type {kind}", request)


@script(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def partitions_are_described_in_portions(talk: Conversation) -> None:
    one, two = talk.topic("one", partitions=3), talk.topic("two")

    def ask(step: str, *names: str, limit: int = 2000, cursor: Cursor | None = None) -> None:
        topics = [TopicRequest(name=name) for name in names]
        talk.ask(step, DescribeTopicPartitionsRequest(
            topics=topics, response_partition_limit=limit, cursor=cursor
        ))  # fmt: skip

    ask("both", one.name, two.name)
    ask("unknown", talk.name("unknown"))
    ask("invalid", "no/such name")
    ask("two partitions", one.name, two.name, limit=2)
    ask("the rest", one.name, two.name, cursor=Cursor(topic_name=one.name, partition_index=2))
    ask("the last", one.name, two.name, cursor=Cursor(topic_name=two.name, partition_index=0))
    ask("beyond", one.name, cursor=Cursor(topic_name=one.name, partition_index=9))
    ask("of another topic", one.name, cursor=Cursor(topic_name=two.name, partition_index=0))
    ask("negative", one.name, cursor=Cursor(topic_name=one.name, partition_index=-1))
    ask("limit 0", one.name, limit=0)


@script(ApiKey.DESCRIBE_LOG_DIRS)
def directories_are_described(talk: Conversation) -> None:
    topic = talk.topic(partitions=2)
    fill(talk, topic)

    def ask(step: str, name: str, *partitions: int) -> None:
        topics = [DescribableLogDirTopic(topic=name, partitions=partitions)]
        talk.ask(step, DescribeLogDirsRequest(topics=topics))

    ask("one", topic.name, 0)
    ask("empty", topic.name, 1)
    ask("unknown partition", topic.name, 9)
    ask("unknown topic", talk.name("unknown"), 0)
    talk.ask("no topics", DescribeLogDirsRequest(topics=[]))
