"""Redis streams: XADD and XREAD, kept in an append-only file."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.batches import xadd_frame
from benchmarks.loads import Listening, Load
from benchmarks.peers.target import check_listener
from benchmarks.rounds import Options
from benchmarks.servers import Server, redis, redis_ask

IN_FLIGHT = 4096
# Half a megabyte of messages of 100 bytes, four of those of a KiB.
ENTRIES_PER_READ = 4000


def missing() -> str | None:
    return None if shutil.which("redis-server") else "redis-server: apt-get install redis-server"


def version() -> str:
    said = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"v=(\S+)", said.stdout)
    return found[1] if found else said.stdout.strip()


class RedisTarget:
    """A stream is a topic. It comes to be with its first entry."""

    def __init__(self, server: Server) -> None:
        self.server, self.pid = server, server.pid
        self.keeps_what_is_read = True

    def make(self, topic: str) -> None:
        redis_ask(self.server.port, "DEL", topic)

    def singly(self, topic: str, values: Sequence[bytes], publishers: int = 1) -> Load:
        return Load("resp", [xadd_frame(topic, value) for value in values])

    def batched(self, topic: str, value: bytes) -> Load:
        return Load("resp", [xadd_frame(topic, value)], in_flight=IN_FLIGHT)

    def listening(self, topic: str) -> Listening:
        words = ["XREAD", "COUNT", str(ENTRIES_PER_READ), "BLOCK", "0", "STREAMS", topic]
        said = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        question = f"*{len(words) + 1}\r\n{said}".encode()
        return Listening("resp", ask=question + b"$1\r\n0\r\n", offset_at=len(question))

    def stored(self, topic: str) -> int:
        return int(redis_ask(self.server.port, "XLEN", topic).strip(b":\r\n"))


@contextmanager
def _running(append_sync: str, directory: Path, options: Options) -> Iterator[RedisTarget]:
    with redis(directory, options, append_sync) as server:
        check_listener(server.pid, server.port)
        yield RedisTarget(server)


always = partial(_running, "always")
everysec = partial(_running, "everysec")
