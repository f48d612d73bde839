"""DescribeLogDirs v1-4.

* There is one directory: the one the broker was given. v4 adds how large its disk is, and how much
  of that is free; -1 where nobody can tell.
* A partition's size is that of its segment files, with the room that is written ahead in the last.
* Topics and partitions that do not exist are left out; with none at all, the directory remains.
* It has no copies to fall behind, nor any on their way elsewhere.
"""

from collections.abc import Iterator, Sequence

from riverlog.cluster.topics import TopicCreated
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import code_of
from riverlog.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


async def handle(request: DescribeLogDirsRequest, context: Context) -> DescribeLogDirsResponse:
    disk_use = context.broker.disk_use
    wanted = [(topic, indexes) for topic, indexes in _wanted(request, context) if indexes]
    try:
        space, sizes_bytes = await disk_use.measure(
            {topic.topic_id: indexes for topic, indexes in wanted}
        )
    except OSError as error:
        failed = DescribeLogDirsResult(error_code=code_of(error), log_dir=disk_use.root, topics=[])
        return DescribeLogDirsResponse(results=[failed])
    topics = [
        DescribeLogDirsTopic(
            name=topic.name,
            partitions=[
                DescribeLogDirsPartition(
                    partition_index=index,
                    partition_size=sizes_bytes.get((topic.topic_id, index), 0),
                    offset_lag=0,
                    is_future_key=False,
                )
                for index in indexes
            ],
        )
        for topic, indexes in wanted
    ]
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                log_dir=disk_use.root,
                topics=topics,
                total_bytes=space.total_bytes,
                usable_bytes=space.usable_bytes,
            )
        ]
    )


def _wanted(
    request: DescribeLogDirsRequest, context: Context
) -> Iterator[tuple[TopicCreated, Sequence[int]]]:
    """The topics asked for that exist, and which of their partitions."""
    topics = context.broker.topics
    if request.topics is None:
        for topic in topics:
            yield topic, range(topic.partition_count)
        return
    indexes_by_name: dict[str, set[int]] = {}
    for asked in request.topics:
        indexes_by_name.setdefault(asked.topic, set()).update(asked.partitions)
    for name, indexes in indexes_by_name.items():
        found = topics.by_name(name)
        if found is not None:
            yield found, sorted(i for i in indexes if 0 <= i < found.partition_count)
