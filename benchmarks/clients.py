"""The clients that load servers, in C so that they are not what is measured."""

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.batches import error_position
from benchmarks.rounds import Options

CLIENT_S_MAX = 600
CLIENT_PROCESSORS = {1}
SOURCES = Path(__file__).parent


class ToolMissing(SystemExit):
    """Something that has to be installed is not; the message says what."""


def require(command: str) -> None:
    """Raises `ToolMissing` unless `command` can be run here."""
    if shutil.which(command) is None:
        raise ToolMissing(f"{command} is not installed: this benchmark needs it")


@dataclass(frozen=True, slots=True)
class Published:
    """What publishers in a closed loop came to. All that was sent was acknowledged."""

    acked: int
    acks_per_s: float
    p50_us: float
    p99_us: float


class Driver:
    """Publishers that each wait for their reply before they send again; see driver.c."""

    def __init__(self, directory: Path, options: Options) -> None:
        self._program = _compiled("driver", directory)
        self._frames = directory / "frames"
        self._options = options

    def publish_to_kafka(
        self, port: int, connections: int, topic: str, frames: Sequence[bytes], count: int = 0
    ) -> Published:
        """Sends `frames` in turn for as long as a cell lasts, or until `count` are acked."""
        return self._publish(port, "kafka", connections, error_position(topic), frames, count)

    def ask_kafka(
        self, port: int, connections: int, error_at: int, frames: Sequence[bytes], count: int = 0
    ) -> Published:
        """As `publish_to_kafka`, with requests of any kind whose reply has its error there."""
        return self._publish(port, "kafka", connections, error_at, frames, count)

    def publish_to_redis(self, port: int, connections: int, frames: Sequence[bytes]) -> Published:
        return self._publish(port, "resp", connections, 0, frames, 0)

    def _publish(
        self,
        port: int,
        kind: str,
        connections: int,
        error_at: int,
        frames: Sequence[bytes],
        count: int,
    ) -> Published:
        self._frames.write_bytes(
            b"".join(struct.pack("=I", len(frame)) + frame for frame in frames)
        )
        options = self._options
        command = [self._program, port, kind, connections, options.warm_up_s, options.cell_s]
        found = _run([*command, count, error_at, self._frames], options)
        if found["sent"] != found["acked"] or not found["measured"]:
            raise ConnectionError(f"not all was acknowledged: {found}")
        return Published(
            acked=int(found["acked"]),
            acks_per_s=found["measured"] / found["seconds"],
            p50_us=found["p50_us"],
            p99_us=found["p99_us"],
        )


@dataclass(frozen=True, slots=True)
class Transferred:
    """How many messages went through librdkafka, as the broker or the consumer counted them."""

    count: int
    per_s: float


class Librdkafka:
    """A producer and a consumer of librdkafka; see librdkafka_client.c."""

    def __init__(self, directory: Path, options: Options) -> None:
        library = _librdkafka()
        link = [str(library), f"-Wl,-rpath,{library.parent}"]
        self._program = _compiled("librdkafka_client", directory, *link)
        self._options = options

    def produce(self, port: int, topic: str, count: int, size: int) -> Transferred:
        return self._transfer("produce", f"127.0.0.1:{port}", topic, count, size)

    def consume(
        self, port: int, topic: str, count: int, size: int, *, checks_crcs: bool = False
    ) -> Transferred:
        checks = "true" if checks_crcs else "false"
        return self._transfer("consume", f"127.0.0.1:{port}", topic, count, size, checks)

    def _transfer(self, *arguments: object) -> Transferred:
        found = _run([self._program, *arguments], self._options)
        return Transferred(int(found["count"]), found["count"] / found["seconds"])


def _librdkafka() -> Path:
    """The library that the confluent-kafka wheel brings along."""
    package = find_spec("confluent_kafka")
    if package is None or package.origin is None:
        raise ToolMissing("confluent-kafka is not installed: this benchmark needs it")
    beside = Path(package.origin).parents[1] / "confluent_kafka.libs"
    found = sorted(beside.glob("librdkafka-*.so*"))
    if not found:
        raise ToolMissing("confluent-kafka has no librdkafka in it: install it from a wheel")
    return found[0]


def _compiled(name: str, directory: Path, *link: str) -> Path:
    require("cc")
    program = directory / name
    source = SOURCES / f"{name}.c"
    subprocess.run(["cc", "-O2", "-o", str(program), str(source), *link], check=True)
    return program


def _run(command: Sequence[object], options: Options) -> dict[str, float]:
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        if options.is_pinned:
            os.sched_setaffinity(process.pid, CLIENT_PROCESSORS)
        try:
            output, _ = process.communicate(timeout=CLIENT_S_MAX)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise ConnectionError(f"{Path(words[0]).name} {' '.join(words[1:])} failed")
    found: dict[str, float] = json.loads(output)
    return found
