"""DescribeLogDirs (key 35), versions 1 to 4."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, boolean, int16, int32, int64, message, string, struct


@struct
class DescribableLogDirTopic:
    topic: str = string()
    partitions: Sequence[int] = array(int32)


@message(key=35, versions="1-4", flexible="2+")
class DescribeLogDirsRequest:
    topics: Sequence[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, nullable="0+")


@struct
class DescribeLogDirsPartition:
    partition_index: int = int32()
    partition_size: int = int64()
    offset_lag: int = int64()
    is_future_key: bool = boolean()


@struct
class DescribeLogDirsTopic:
    name: str = string()
    partitions: Sequence[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


@struct
class DescribeLogDirsResult:
    error_code: int = int16(default=0)
    log_dir: str = string()
    topics: Sequence[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = int64("4+", default=-1)
    usable_bytes: int = int64("4+", default=-1)


@message(key=35, versions="1-4", flexible="2+")
class DescribeLogDirsResponse:
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16("3+", default=0)
    results: Sequence[DescribeLogDirsResult] = array(DescribeLogDirsResult)
