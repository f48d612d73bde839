"""Everything that reads bytes from outside: what it may do with any of them, and nothing else.

A target returns when the outcome was allowed: a value that stands up to being written again, or an
error that was declared. All else comes out of it, and is what the fuzzer looks for.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

from riverlog.client.membership import (
    UnreadableMember,
    read_assignment,
    read_topics,
    write_assignment,
    write_topics,
)
from riverlog.cluster import facts
from riverlog.cluster.topics import PartitionsAdded, TopicConfigured, TopicCreated, TopicDeleted
from riverlog.groups import records as group_records
from riverlog.groups.facts import GenerationSettled, OffsetCommitted, SettledMember
from riverlog.groups.subscription import subscribed_topics
from riverlog.kafka.apis import served
from riverlog.log import journal_frames
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.codec import codec
from riverlog.protocol.headers import read_client_id, read_response, read_start
from riverlog.protocol.wire import WireError
from riverlog.records.batch import HEADER_SIZE, check_batch, check_produced, split
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec, compress, decompress
from riverlog.records.crc import crc32c
from riverlog.records.errors import BatchError
from riverlog.records.record import iterate
from tests.fuzz.batches import SEEDS as BATCHES
from tests.fuzz.batches import BatchMutator
from tests.fuzz.corpus import load
from tests.fuzz.mutation import Mutator
from tests.fuzz.seeds import seeds
from tests.protocol.samples import filled

INFLATED_BYTES_MAX = 1 << 20
SALT = b"journal!"

Mutate = Callable[[bytes], bytes]


class Target(NamedTuple):
    """One reader: what it is given, and how; `share` of all inputs are for it.

    Of `len(input)` bytes it may take `growth` times as much memory, and `floor_bytes`.
    """

    name: str
    share: int
    seeds: Sequence[bytes]
    attempt: Callable[[bytes], None]
    mutator: Callable[[Random, Sequence[bytes]], Mutate]
    growth: int = 4
    floor_bytes: int = 256 << 10


def targets() -> dict[str, Target]:
    """All of them, by name."""
    made = (
        Target("request", 60, [seed.frame for seed in seeds(load())], read_request, _of_requests),
        Target("response", 8, _responses(), read_a_response, _of_responses),
        Target("batch", 16, BATCHES, read_batches, _of_batches, 24, 6 * INFLATED_BYTES_MAX),
        Target("inflate", 6, _compressed(), inflate, _plain, 0, 6 * INFLATED_BYTES_MAX),
        Target("group record", 3, _group_records(), read_group_record, _plain, growth=24),
        Target("membership", 3, _memberships(), read_membership, _plain, growth=24),
        Target("fact", 2, _facts(), read_fact, _plain, growth=24),
        Target("journal", 2, _journals(), read_journal, _of_journals, growth=24),
    )
    return {target.name: target for target in made}


# Requests and responses.

_APIS = served()


def read_request(frame: bytes) -> None:
    try:
        key, version, _ = read_start(frame)
        api = _APIS.get(key)
        codecs = None if api is None else api.codecs(version)
        if codecs is None:
            return
        request_codec, _, is_flexible = codecs
        _, position = read_client_id(frame, is_flexible)
        message = request_codec.decode(frame, position)
    except WireError:
        return
    # Tags may come in any order and leave sorted; from then on nothing may change any more.
    written = b"".join(request_codec.encode(message))
    again = request_codec.decode(written)
    assert b"".join(request_codec.encode(again)) == written, "it is written differently"


def read_a_response(data: bytes) -> None:
    """As our client reads; the first four bytes say which."""
    key, version = int.from_bytes(data[:2]), int.from_bytes(data[2:4])
    request, response = tables(ApiKey(key))
    try:
        _, message = read_response(request, version, data[4:], response)
    except WireError:
        return
    codec(response, version).encode(message)


def _responses() -> list[bytes]:
    found = []
    for api in _APIS.values():
        _, response = tables(api.key)
        for version in range(api.first, api.last + 1):
            start = api.key.to_bytes(2) + version.to_bytes(2) + bytes(4)
            header = b"\0" if version in response.FLEXIBLE and api.key != 18 else b""  # type: ignore[attr-defined]  # a table
            body = codec(response, version).encode(filled(response, version, 2, "é"))
            found.append(b"".join((start, header, *body)))
    return found


# Batches and what is inside.


def read_batches(data: bytes) -> None:
    for reader in (check_batch, check_produced):
        with suppress(BatchError):
            reader(data)
    try:
        found = [
            (header, list(iterate(data, position, decompressed_bytes_max=INFLATED_BYTES_MAX)))
            for position, header in split(data)
        ]
    except BatchError:
        return
    for header, records in found:
        numbered = [record._replace(offset=number) for number, record in enumerate(records)]
        if numbered:
            build_batch(numbered)
        assert len(records) == max(0, header.record_count)


def inflate(data: bytes) -> None:
    codec_of = Codec(1 + data[0] % 4) if data else Codec.GZIP
    with suppress(BatchError):
        inflated = decompress(codec_of, data[1:], INFLATED_BYTES_MAX)
        assert len(inflated) <= INFLATED_BYTES_MAX
        assert decompress(codec_of, compress(codec_of, inflated), INFLATED_BYTES_MAX) == inflated


def _compressed() -> list[bytes]:
    plain = (b"", b"a", bytes(5000), bytes(range(256)) * 3, BATCHES[0][HEADER_SIZE:])
    return [
        bytes([codec_of - 1]) + compress(codec_of, data)
        for codec_of in Codec
        if codec_of is not Codec.NONE
        for data in plain
    ]


# What groups and the log write for themselves, or members for each other.


def read_group_record(data: bytes) -> None:
    """Key and value, the key's length in front."""
    key, value = data[1 : 1 + data[0]] if data else b"", data[1 + (data[0] if data else 0) :]
    with suppress(group_records.UnknownRecord):
        group_records.decode(key, value)


def read_membership(data: bytes) -> None:
    assert isinstance(subscribed_topics(data), list)
    with suppress(UnreadableMember):
        topics = read_topics(data)
        assert read_topics(write_topics(list(topics))) == topics
    with suppress(UnreadableMember):
        assignment = read_assignment(data)
        assert read_assignment(write_assignment(assignment)) == assignment


def read_fact(data: bytes) -> None:
    with suppress(facts.UnknownFact):
        facts.decode(data)


def read_journal(data: bytes) -> None:
    found = journal_frames.decode(SALT, data)
    for frame in found.frames:
        assert frame.end <= len(data)


def _group_records() -> list[bytes]:
    member = SettledMember("m", None, "client", "/127.0.0.1", 1, 1, b"s", b"a")
    entries = [
        group_records.encode("group", OffsetCommitted("topic", 0, 7, 0, "", 1, -1)),
        group_records.encode("group", GenerationSettled(3, "consumer", "range", "m", 1, (member,))),
    ]
    return [bytes([len(entry.key)]) + entry.key + (entry.value or b"") for entry in entries]


def _memberships() -> list[bytes]:
    return [write_topics(["orders", "é"]), write_assignment({"orders": [0, 1], "b": []})]


def _facts() -> list[bytes]:
    topic_id = bytes(range(16))
    made: list[Any] = [
        TopicCreated(topic_id, "orders", 3, {"retention.ms": "1"}),
        TopicDeleted(topic_id),
        TopicConfigured(topic_id, {"a": "b"}),
        PartitionsAdded(topic_id, 4),
    ]
    return [facts.encode(fact) for fact in made]


def _journals() -> list[bytes]:
    entries = [
        journal_frames.Entry(b"k" * 20, 0, 61 * number, (BATCHES[5],)) for number in range(3)
    ]
    frame = journal_frames.encode(SALT, 0, entries)
    return [bytes(frame), bytes(frame + journal_frames.encode(SALT, 1, entries[:1]))]


# How each is changed.


def _plain(chance: Random, given: Sequence[bytes]) -> Mutate:
    return Mutator(chance, given).mutated


def _of_requests(chance: Random, given: Sequence[bytes]) -> Mutate:
    mutator = Mutator(chance, given)

    def mutated(frame: bytes) -> bytes:
        # The API and its version stay, mostly: another one refuses the whole request.
        return mutator.mutated(frame, 0 if chance.random() < 0.03 else 8)

    return mutated


def _of_responses(chance: Random, given: Sequence[bytes]) -> Mutate:
    mutator = Mutator(chance, given)
    return lambda data: mutator.mutated(data, 8)


def _of_batches(chance: Random, given: Sequence[bytes]) -> Mutate:
    return BatchMutator(chance).mutated


def _of_journals(chance: Random, given: Sequence[bytes]) -> Mutate:
    mutator = Mutator(chance, given)

    def mutated(data: bytes) -> bytes:
        changed = bytearray(mutator.mutated(data, 12))
        # Its checksum covers all that follows: with the right one, what it says is read.
        if len(changed) >= 24:
            changed[16:20] = (len(changed) - 24).to_bytes(4)
            changed[8:12] = crc32c(memoryview(changed)[12:]).to_bytes(4)
        return bytes(changed)

    return mutated
