"""RabbitMQ over AMQP 0-9-1, a node of its own: its name, ports, directories and port mapper.

Streams are spoken to over AMQP too, as most clients do; their own protocol would be quicker.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from benchmarks.loads import Listening, Load
from benchmarks.peers import amqp_wire as amqp
from benchmarks.peers.target import Deadline, birth_ticks, check_listener, family
from benchmarks.rounds import Options
from benchmarks.servers import Server, free_port, started

# The script behind the wrapper that Debian puts on the path, which insists on its own user.
SCRIPT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
HOW = "rabbitmq-server: apt-get install --no-install-recommends rabbitmq-server"
IN_FLIGHT = 4096
STREAM_PREFETCH = 4000
STREAM_ACK_EVERY = 1000
STOP_S_MAX = 30
BEAM = "beam.smp"


def _script() -> str | None:
    return str(SCRIPT) if SCRIPT.exists() else shutil.which("rabbitmq-server")


def missing() -> str | None:
    return None if _script() and shutil.which("epmd") else HOW


def version() -> str:
    command = ["dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.partition("-")[0] or "unknown"


class RabbitTarget:
    """A durable queue of one kind, named after the topic; messages are persistent."""

    def __init__(self, server: Server, beam_pid: int, kind: str) -> None:
        self.server, self.pid = server, beam_pid
        self.keeps_what_is_read = kind == "stream"
        self._kind = kind

    def make(self, topic: str) -> None:
        with closing(amqp.AmqpConnection(self.server.port)) as connection:
            connection.declare(topic, {"x-queue-type": self._kind})

    def singly(self, topic: str, values: Sequence[bytes], publishers: int = 1) -> Load:
        requests = [amqp.publishing(topic, value) for value in values]
        return Load("amqp", requests, [amqp.confirming()])

    def batched(self, topic: str, value: bytes) -> Load:
        requests = [amqp.publishing(topic, value)]
        return Load("amqp", requests, [amqp.confirming()], in_flight=IN_FLIGHT)

    def listening(self, topic: str) -> Listening:
        if self._kind == "stream":
            hello = amqp.consuming(topic, STREAM_PREFETCH, {"x-stream-offset": "first"})
            return Listening("amqp", hello, ack_every=STREAM_ACK_EVERY)
        return Listening("amqp", amqp.consuming(topic, 0, {}))

    def stored(self, topic: str) -> int | None:
        """Streams do not say."""
        if self.keeps_what_is_read:
            return None
        with closing(amqp.AmqpConnection(self.server.port)) as connection:
            return connection.message_count(topic)


@contextmanager
def _running(kind: str, directory: Path, options: Options) -> Iterator[RabbitTarget]:
    directory.mkdir(parents=True, exist_ok=True)
    port, mapper_port, log = free_port(), free_port(), directory / "rabbitmq.log"
    places = _environment(directory, port, mapper_port)
    mapper = subprocess.Popen(
        ["epmd", "-port", str(mapper_port), "-address", "127.0.0.1"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(started([_script() or str(SCRIPT)], log, options, places), port)
    try:
        deadline = Deadline(log)
        while not _answers(port):
            deadline.wait(server.process.poll() is not None)
        check_listener(server.pid, port)
        yield RabbitTarget(server, _beam(server.pid), kind)
    finally:
        _stop(server)
        mapper.terminate()
        mapper.wait()


def _environment(directory: Path, port: int, mapper_port: int) -> dict[str, str]:
    enabled = directory / "enabled_plugins"
    enabled.write_text("[].\n")
    config = directory / "rabbitmq.conf"
    config.write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\ndisk_free_limit.absolute = 100MB\n")
    return os.environ | {
        "HOME": str(directory),
        "ERL_EPMD_PORT": str(mapper_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"bench{port}@localhost",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONF_ENV_FILE": str(directory / "none.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(enabled),
        "RABBITMQ_MNESIA_BASE": str(directory / "data"),
        "RABBITMQ_LOG_BASE": str(directory / "logs"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_PID_FILE": str(directory / "pid"),
    }


def _answers(port: int) -> bool:
    try:
        amqp.AmqpConnection(port).close()
    except OSError:
        return False
    return True


def _beam(pid: int) -> int:
    """The machine in which the server runs; around it are shells."""
    for one in family(pid):
        if Path(f"/proc/{one}/comm").read_text().strip() == BEAM:
            return one
    return pid


def _stop(server: Server) -> None:
    """Asks the machine itself to stop: the script around it would take long to do the same."""
    born = {pid: birth_ticks(pid) for pid in family(server.pid)}
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.kill(_beam(server.pid), signal.SIGTERM)
        server.process.wait(STOP_S_MAX)
    server.stop()
    for pid, ticks in born.items():
        if ticks is not None and birth_ticks(pid) == ticks:
            os.kill(pid, signal.SIGKILL)


classic = partial(_running, "classic")
quorum = partial(_running, "quorum")
stream = partial(_running, "stream")
