"""The clients that load servers, in C so that they are not what is measured."""

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.batches import error_position
from benchmarks.loads import Delays, Listening, Load, Published, Transferred
from benchmarks.rounds import Options

__all__ = ["Driver", "Librdkafka", "Published", "ToolMissing", "Transferred", "require"]

CLIENT_S_MAX = 600
CLIENT_PROCESSORS = {1}
SOURCES = Path(__file__).parent


class ToolMissing(SystemExit):
    """Something that has to be installed is not; the message says what."""


def require(command: str) -> None:
    """Raises `ToolMissing` unless `command` can be run here."""
    if shutil.which(command) is None:
        raise ToolMissing(f"{command} is not installed: this benchmark needs it")


class Driver:
    """Publishers and a consumer at the speed of C, for every protocol alike; see driver/main.c."""

    def __init__(self, directory: Path, options: Options) -> None:
        sources = sorted((SOURCES / "driver").glob("*.c"))
        self._program = _compiled("driver", directory, sources)
        self._directory = directory
        self._options = options

    def publish(self, port: int, load: Load, connections: int, count: int = 0) -> Published:
        """Sends for as long as a cell lasts, or until `count` requests are acknowledged.

        Raises `ConnectionError` if one was refused or had no answer.
        """
        options = self._options
        found = self._run(
            "publish",
            port=port,
            **self._told(load),
            connections=connections,
            window=load.in_flight,
            warm_up_s=options.warm_up_s,
            seconds=options.cell_s,
            count=count,
        )
        if found["sent"] != found["acked"] or not found["measured"]:
            raise ConnectionError(f"not all was acknowledged: {found}")
        return Published(
            acked=int(found["acked"]) * load.messages_per_request,
            acks_per_s=found["measured"] * load.messages_per_request / found["seconds"],
            p50_us=found["p50_us"],
            p99_us=found["p99_us"],
        )

    def consume(self, port: int, listening: Listening, count: int) -> Transferred:
        """Reads `count` messages or a few more: the rest of what came with the last of them."""
        found = self._run("consume", port=port, **self._heard(listening), count=count)
        return Transferred(int(found["count"]), found["count"] / found["seconds"])

    def latency(
        self, port: int, load: Load, listening: Listening, rate_per_s: int, seconds: float
    ) -> Delays:
        """Publishes at a steady rate, on one connection, what another receives.

        Raises `ConnectionError` unless all of it was acknowledged.
        """
        told = self._told(load) | self._heard(listening)
        found = self._run("latency", port=port, **told, rate_per_s=rate_per_s, seconds=seconds)
        if found["sent"] != found["acked"]:
            raise ConnectionError(f"not all was acknowledged: {found}")
        return Delays(int(found["delivered"]), found["p50_us"], found["p99_us"])

    def publish_to_kafka(
        self, port: int, connections: int, topic: str, frames: Sequence[bytes], count: int = 0
    ) -> Published:
        """Sends `frames` in turn, one at a time on a connection."""
        return self.ask_kafka(port, connections, error_position(topic), frames, count)

    def ask_kafka(
        self, port: int, connections: int, error_at: int, frames: Sequence[bytes], count: int = 0
    ) -> Published:
        """As `publish_to_kafka`, with requests of any kind whose reply has its error there."""
        return self.publish(port, Load("kafka", frames, error_at=error_at), connections, count)

    def publish_to_redis(self, port: int, connections: int, frames: Sequence[bytes]) -> Published:
        return self.publish(port, Load("resp", frames), connections)

    def _told(self, load: Load) -> dict[str, object]:
        return {
            "protocol": load.protocol,
            "frames": self._written("frames", _pieces(load.requests)),
            "hellos": self._written("hellos", _pieces(load.hellos)),
            "error_at": load.error_at,
        }

    def _heard(self, listening: Listening) -> dict[str, object]:
        return {
            "protocol": listening.protocol,
            "listener_hello": self._written("listener_hello", listening.hello),
            "ask": self._written("ask", listening.ask),
            "offset_at": listening.offset_at,
            "ack_every": listening.ack_every,
        }

    def _written(self, name: str, data: bytes) -> Path:
        path = self._directory / f"driver-{name}"
        path.write_bytes(data)
        return path

    def _run(self, mode: str, **settings: object) -> dict[str, float]:
        words = [f"{name}={value}" for name, value in settings.items()]
        return _run([self._program, mode, *words], self._options)


class Librdkafka:
    """A producer and a consumer of librdkafka; see librdkafka_client.c."""

    def __init__(self, directory: Path, options: Options) -> None:
        library = _librdkafka()
        sources = [SOURCES / "librdkafka_client.c"]
        link = [str(library), f"-Wl,-rpath,{library.parent}"]
        self._program = _compiled("librdkafka_client", directory, sources, *link)
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


def _pieces(pieces: Sequence[bytes]) -> bytes:
    return b"".join(struct.pack("=I", len(piece)) + piece for piece in pieces)


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


def _compiled(name: str, directory: Path, sources: Sequence[Path], *link: str) -> Path:
    require("cc")
    program = directory / name
    subprocess.run(["cc", "-O2", "-o", str(program), *map(str, sources), *link], check=True)
    return program


def _run(command: Sequence[object], options: Options) -> dict[str, float]:
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if options.is_pinned:
            os.sched_setaffinity(process.pid, CLIENT_PROCESSORS)
        try:
            output, errors = process.communicate(timeout=CLIENT_S_MAX)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        said = errors.decode(errors="replace")[-300:].strip()
        raise ConnectionError(f"{said}; {Path(words[0]).name} {' '.join(words[1:])} failed")
    found: dict[str, float] = json.loads(output)
    return found
