"""A broker under changed frames: what is done to it, what is cleared away, what is looked at."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import riverlog
from riverlog.client.errors import ClientError
from riverlog.protocol.messages.produce import ProduceRequest
from riverlog.records.batch import read_header
from tests.broker_process import BROKEN, BrokerProcess
from tests.fuzz.corpus import GROUP, ORDERS, PARTITIONS, load
from tests.fuzz.failures import Failure
from tests.fuzz.frame_source import FrameSource
from tests.fuzz.messages import Vocabulary
from tests.fuzz.seeds import Seed, seeds
from tests.fuzz.tcp_fuzzer import Dead, TcpFuzzer, send_alone

# After so many frames topics and groups are cleared away. Each time it waits for those who wait.
SLICE_FRAMES = 5_000
# One slice in so many is of a Produce request.
PRODUCE_EVERY = 4
SETTLE_S_MAX = 15

# What docs/hostile-clients.md promises.
GROWTH_BYTES_MAX = 64 << 20
# What is loaded when it is first used, and the pages that Python shares out among small objects.
KEPT_BYTES_MAX = 24 << 20
# The journal and the topic of committed offsets, where the first frames had no use for them.
HANDLES_MORE_MAX = 3

TROUBLE_CHARACTERS_MAX = 3_000
WORDS = (ORDERS, GROUP, f"{GROUP}-static", "fuzz-doomed", "consumer", "range")

SETTINGS = (
    "--num-partitions", "1",
    "--group-initial-rebalance-delay-ms", "0",
    "--group-min-session-timeout-ms", "1",
    "--offsets-topic-num-partitions", "1",
)  # fmt: skip


class Holding(NamedTuple):
    """What a process holds on to, and the most memory that it ever had."""

    rss_bytes: int
    rss_bytes_max: int
    handles: int
    sockets: int

    def excess(self, before: "Holding") -> list[str]:
        """What is more than may be left of all that was done since `before`."""
        bounds = (
            ("memory now", self.rss_bytes, before.rss_bytes + KEPT_BYTES_MAX),
            ("memory at most", self.rss_bytes_max, before.rss_bytes + GROWTH_BYTES_MAX),
            ("handles", self.handles, before.handles + HANDLES_MORE_MAX),
            ("sockets", self.sockets, before.sockets),
        )
        return [f"{what}: {is_now} of {most}" for what, is_now, most in bounds if is_now > most]


def holding(pid: int) -> Holding:
    """What it has now."""
    process = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    rss_bytes, rss_bytes_max = (int(status[key].split()[0]) << 10 for key in ("VmRSS", "VmHWM"))
    links = []
    for handle in (process / "fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(handle.readlink().name)
    sockets = sum(link.startswith("socket:") for link in links)
    return Holding(rss_bytes, rss_bytes_max, len(links), sockets)


def cpu_s(pid: int) -> float:
    """How long it has computed so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Log:
    """What a broker has said, read as it grows."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._path = broker.log
        self._read_bytes = 0
        self._trouble = ""

    def skip(self) -> None:
        """Lets what was said so far be."""
        self._read_bytes = self._path.stat().st_size

    def trouble(self) -> str:
        """The first errors it has told of, and what follows them; empty if all is well."""
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            data = file.read()
        # A line may be half written, and an error's traceback comes with it.
        end = data.rfind(b"\n") + 1
        self._read_bytes += end
        said = data[:end].decode(errors="replace")
        if not self._trouble and (broken := BROKEN.search(said)):
            self._trouble = said[broken.start() :][:TROUBLE_CHARACTERS_MAX]
        return self._trouble


class Siege:
    """Frames against one broker, slice by slice; `failure` says what broke, and by which."""

    def __init__(self, broker: BrokerProcess, seed: str, spared: frozenset[str]) -> None:
        """Nothing is done to the topics that are `spared`."""
        self.failure: Failure | None = None
        self.fuzzers: list[TcpFuzzer] = []
        self._broker = broker
        self._seed = seed
        self._spared = spared
        self._vocabulary = Vocabulary()
        self._vocabulary.words += WORDS
        self._seeds: list[Seed] = []
        self._topic_id = b""
        self._log = Log(broker)

    @property
    def frame_count(self) -> int:
        return sum(fuzzer.frame_count for fuzzer in self.fuzzers)

    @property
    def silent_s_max(self) -> float:
        """The longest time in which the broker did not answer somebody who was new."""
        return max(fuzzer.silent_s_max for fuzzer in self.fuzzers)

    @property
    def busy_s_max(self) -> float:
        """The most that it has computed in such a time: of a crowded machine it knows nothing."""
        return max(fuzzer.busy_s_max for fuzzer in self.fuzzers)

    def attack(self, frame_count: int) -> None:
        """Sends so many frames, unless something breaks before."""
        while frame_count > 0 and self.failure is None:
            count = min(SLICE_FRAMES, frame_count)
            self._attack_once(count)
            frame_count -= count

    def _attack_once(self, count: int) -> None:
        self._prepare()
        seed = f"{self._seed}/{len(self.fuzzers)}"
        source = self._source(seed)
        broker = self._broker
        fuzzer = TcpFuzzer(broker.host, broker.port, source, lambda: cpu_s(broker.pid))
        self.fuzzers.append(fuzzer)
        reason = ""
        try:
            asyncio.run(fuzzer.run(count, self._is_well))
        except (Dead, OSError) as dead:
            reason = repr(dead)
        if reason or not self._is_well():
            reason = f"{reason}\n{self._log.trouble()}"
            self.failure = Failure("tcp", list(fuzzer.recent), reason, self._seed)

    def _source(self, seed: str) -> FrameSource:
        """Of every API; or of one Produce request, which opens the express lane if it is sound."""
        opener = None
        if len(self.fuzzers) % PRODUCE_EVERY == 0:
            opener = Random(seed).choice([each for each in self._seeds if _is_common(each)])
        return FrameSource(seed, self._seeds, self._vocabulary, opener=opener)

    def _is_well(self) -> bool:
        return not self._log.trouble()

    def _prepare(self) -> None:
        """Makes sure that there is something to hit, and knows its name and id."""
        self.clear()
        with riverlog.connect(self._broker.bootstrap) as client:
            if ORDERS not in {topic.name for topic in client.topics.list()}:
                client.topics.create(ORDERS, partitions=PARTITIONS)
            topic_id = client.topics.describe(ORDERS).topic_id.bytes
        if topic_id != self._topic_id:
            self._topic_id = topic_id
            self._vocabulary.topic_ids = [topic_id]
            self._seeds = seeds(load(), {ORDERS: topic_id})

    def clear(self, *, everything: bool = False) -> None:
        """Deletes the topics and groups that frames have made; the known ones only at the end."""
        kept = self._spared if everything else self._spared | {ORDERS}
        with riverlog.connect(self._broker.bootstrap) as client:
            for topic in client.topics.list():
                if topic.name not in kept and not topic.is_internal:
                    client.topics.delete(topic.name)
            for group in client.groups.list():
                # One with members goes when these have been silent for long enough.
                with suppress(ClientError):
                    client.groups.delete(group.name)

    def settled(self, before: Holding) -> Holding:
        """What the broker holds once it has let go of the frames' doings, or after a while."""
        deadline = time.monotonic() + SETTLE_S_MAX
        while True:
            now = holding(self._broker.pid)
            if time.monotonic() > deadline or not now.excess(before):
                return now
            time.sleep(0.2)


def _is_common(seed: Seed) -> bool:
    """Whether it is a Produce request as nearly all are: one batch for one partition."""
    message = seed.message()
    if not isinstance(message, ProduceRequest) or message.acks == 0 or message.transactional_id:
        return False
    partitions = [each for topic in message.topic_data for each in topic.partition_data]
    batches = [each.records for each in partitions if each.records]
    return len(batches) == 1 and read_header(batches[0]).producer_id < 0


def guilty(broker: BrokerProcess, frames: list[bytes]) -> list[bytes]:
    """Sends frames one by one; gives those after which the broker had said something worse."""
    found = []
    for frame in frames:
        log = Log(broker)
        log.skip()
        with suppress(Dead):
            asyncio.run(send_alone(broker.host, broker.port, frame))
        if log.trouble():
            found.append(frame)
    return found


def audit(data: Path) -> str:
    """What `riverlog job audit` says of a data directory that nobody uses; raises if it is bad."""
    command = [sys.executable, "-m", "riverlog", "job", "audit", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (
        f"the audit ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    )
    return done.stdout
