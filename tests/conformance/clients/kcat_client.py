"""kcat: librdkafka from the command line."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence

from tests.conformance.clients.client import (
    DEADLINE_S,
    ClientFailed,
    Cluster,
    Headers,
    Lack,
    Record,
)

# Key and value go by their lengths; headers have none, and end with the line.
FORMAT = r"%p %T %K %S\n%k%s%h\n"
NULL_LENGTH = -1
# Nothing that is written may hold these.
KEY_END = "<key ends>"
RECORD_END = "<record ends>"


class KcatClient:
    """kcat as its manual shows it; a process for every call.

    It cannot set timestamps, nor write a record with neither key nor value. It prints header
    values bare: they may hold neither a comma nor a new line, and a null one reads as NULL.
    """

    name = "kcat"
    lacks = Lack.TIMESTAMPS | Lack.CLUSTER_ID

    def describe(self, bootstrap: str) -> Cluster:
        listed = json.loads(_run("-b", bootstrap, "-L", "-J"))
        brokers = []
        for broker in listed["brokers"]:
            host, _, port = broker["name"].rpartition(":")
            brokers.append((broker["id"], host, int(port)))
        return Cluster(
            cluster_id=None,
            controller_id=listed["controllerid"],
            brokers=tuple(brokers),
            topics={topic["topic"]: len(topic["partitions"]) for topic in listed["topics"]},
        )

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        raise ClientFailed("kcat creates no topics")

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        for record in records:
            arguments = ["-b", bootstrap, "-P", "-t", topic, "-p", str(record.partition)]
            arguments += ["-z", codec, "-X", "message.max.bytes=1048576"]
            arguments += ["-K", KEY_END, "-D", RECORD_END]
            if record.value is None:
                arguments += ["-Z"]
            for name, value in record.headers:
                arguments += ["-H", name if value is None else f"{name}={value.decode()}"]
            key = b"" if record.key is None else record.key + KEY_END.encode()
            _run(*arguments, given=key + (record.value or b""))

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        found = {}
        for topic, count in counts.items():
            arguments = ["-b", bootstrap, "-C", "-t", topic, "-o", "beginning", "-c", str(count)]
            # It asks for each partition as it learns of it; the first must not keep others waiting.
            arguments += ["-X", "fetch.wait.max.ms=10"]
            found[topic] = _records(_run(*arguments, "-q", "-f", FORMAT))
        return found

    def close(self) -> None:
        pass


def _run(*arguments: str, given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["kcat", *arguments], input=given, capture_output=True, timeout=DEADLINE_S
    )
    if done.returncode:
        raise ClientFailed(done.stderr.decode())
    return done.stdout


def _records(printed: bytes) -> list[Record]:
    records = []
    position = 0
    while position < len(printed):
        head = re.compile(rb"(\d+) (\d+) (-?\d+) (-?\d+)\n").match(printed, position)
        assert head is not None, printed[position : position + 100]
        partition, timestamp_ms, key_bytes, value_bytes = map(int, head.groups())
        position = head.end()
        key = printed[position : position + max(key_bytes, 0)]
        position += len(key)
        value = printed[position : position + max(value_bytes, 0)]
        position += len(value)
        end = printed.index(b"\n", position)
        records.append(
            Record(
                partition=partition,
                key=None if key_bytes == NULL_LENGTH else key,
                value=None if value_bytes == NULL_LENGTH else value,
                headers=_headers(printed[position:end]),
                timestamp_ms=timestamp_ms,
            )
        )
        position = end + 1
    return records


def _headers(printed: bytes) -> Headers:
    pairs = [pair.partition(b"=") for pair in printed.split(b",")] if printed else []
    return tuple((name.decode(), None if value == b"NULL" else value) for name, _, value in pairs)
