"""Requests of real clients, as `python -m tests.fuzz.record` wrote them down."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.headers import read_start

RECORDED = Path(__file__).with_name("recorded.txt")

# What the fuzzers make anew, so that what was recorded finds it.
ORDERS = "fuzz-orders"
PARTITIONS = 2
GROUP = "fuzz-group"

_TOPIC = "topic"


class Frame(NamedTuple):
    """One request without its length prefix, and who sent it."""

    client: str
    data: bytes

    @property
    def api(self) -> ApiKey:
        return ApiKey(read_start(self.data)[0])

    @property
    def version(self) -> int:
        return read_start(self.data)[1]


class Corpus(NamedTuple):
    """What was recorded; the ids that its topics had are in some of the frames."""

    frames: tuple[Frame, ...]
    topic_ids: Mapping[str, bytes]

    @property
    def versions(self) -> dict[ApiKey, set[int]]:
        """The versions of each API that clients spoke."""
        found: dict[ApiKey, set[int]] = {}
        for frame in self.frames:
            found.setdefault(frame.api, set()).add(frame.version)
        return found


def load(path: Path = RECORDED) -> Corpus:
    """Reads what `save` wrote."""
    frames = []
    topic_ids = {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        kind, *words, data = line.split()
        if kind == _TOPIC:
            topic_ids[words[0]] = b64decode(data)
        else:
            frames.append(Frame(words[1], b64decode(data)))
    return Corpus(tuple(frames), topic_ids)


def save(corpus: Corpus, path: Path = RECORDED) -> None:
    """Writes it as text: one request a line, so that a new recording reads as a diff."""
    path.write_text(
        "# API, version, client and request; python -m tests.fuzz.record writes this file.\n"
        + "".join(
            f"{_TOPIC} {name} {b64encode(topic_id).decode()}\n"
            for name, topic_id in sorted(corpus.topic_ids.items())
        )
        + "".join(sorted(map(_line, corpus.frames), key=_order))
    )


def thinned(frames: Iterable[Frame], each_max: int, bytes_max: int) -> tuple[Frame, ...]:
    """At most so many of each API, version and client, of different lengths, none too long."""
    kept: dict[tuple[ApiKey, int, str], dict[int, Frame]] = {}
    for frame in frames:
        same = kept.setdefault((frame.api, frame.version, frame.client), {})
        if len(same) < each_max and len(frame.data) <= bytes_max:
            same.setdefault(len(frame.data), frame)
    return tuple(frame for same in kept.values() for frame in same.values())


def _line(frame: Frame) -> str:
    return f"{frame.api.name} {frame.version} {frame.client} {b64encode(frame.data).decode()}\n"


def _order(line: str) -> tuple[str, int, str]:
    api, version, rest = line.split(maxsplit=2)
    return api, int(version), rest
