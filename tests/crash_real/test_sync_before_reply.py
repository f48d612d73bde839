"""No reply leaves before what it rests on is as durable as was asked for: seen in system calls."""

from collections.abc import Callable
from pathlib import Path

import pytest

from riverlog.testing.history import Acks
from tests.broker_process import BrokerProcess
from tests.crash_real.strace import WRITES, Call, Trace, traced
from tests.crash_real.waiting import wait_until
from tests.crash_real.wire import Wire, wired

NAMES = f"{WRITES},fdatasync,fsync,openat,mkdir,rename,sendto,sendmsg,write,writev"


@pytest.fixture
def topic(broker: BrokerProcess) -> Path:
    """The directory of a topic `orders` that is at rest: nothing about it is still to be done."""
    with wired(broker) as wire:
        topic_id = wire.create_topic("orders", segment_bytes="4096")
    directory = broker.data / "topics" / topic_id.hex()
    # The copy of the fact is written apart, and a second topic's after it.
    wait_until((directory / "topic.json").exists)
    with wired(broker) as wire:
        second_id = wire.create_topic("second")
    wait_until((directory.parent / second_id.hex() / "topic.json").exists)
    return directory


def test_the_first_record_of_a_partition_is_synced_with_all_its_names_before_the_reply(
    broker: BrokerProcess, topic: Path
) -> None:
    partition = topic / "0"
    segment = partition / "00000000000000000000.log"

    with wired(broker) as wire, traced(broker, NAMES) as trace:
        produced = wire.produce("orders", ("first", b"payload"))
        calls = _until_reply(trace)

    assert produced.is_acknowledged
    reply = _reply(calls)
    made = _only(calls, "mkdir", partition)
    created = _only(calls, "openat", segment)
    _assert_synced(calls, segment, before=reply)
    for directory, needed in [
        (partition, created),
        (topic, made),
        (topic.parent, made),
        (broker.data, made),
    ]:
        # The copy of the topic's fact may be synced beside it, at any time.
        syncs = [call for call in _about(calls, "fsync", directory) if needed.precedes(call)]
        assert any(synced.precedes(reply) for synced in syncs), directory


def test_a_later_record_is_synced_before_the_reply(broker: BrokerProcess, topic: Path) -> None:
    with wired(broker) as wire:
        wire.produce("orders", ("first", b"payload"))
        with traced(broker, NAMES) as trace:
            produced = wire.produce("orders", ("second", b"payload"))
            calls = _until_reply(trace)

    assert produced.is_acknowledged
    _assert_synced(calls, topic / "0" / "00000000000000000000.log", before=_reply(calls))


def test_a_record_in_a_new_segment_is_synced_with_its_name_before_the_reply(
    broker: BrokerProcess, topic: Path
) -> None:
    old = topic / "0" / "00000000000000000000.log"
    new = topic / "0" / "00000000000000000001.log"
    with wired(broker) as wire:
        wire.produce("orders", ("first", bytes(4000)))
        with traced(broker, NAMES) as trace:
            produced = wire.produce("orders", ("second", bytes(4000)))
            calls = _until_reply(trace)

    assert produced.is_acknowledged
    reply = _reply(calls)
    created = _only(calls, "openat", new)
    _assert_synced(calls, new, before=reply)
    assert any(
        created.precedes(call) and call.precedes(reply)
        for call in _about(calls, "fsync", topic / "0")
    )
    assert _about(calls, "fdatasync", old)[-1].precedes(created), "the old segment must be whole"


def test_a_reply_with_acks_1_follows_the_write_and_the_sync_comes_unasked(
    broker: BrokerProcess, topic: Path
) -> None:
    segment = topic / "0" / "00000000000000000000.log"
    with wired(broker) as wire:
        wire.produce("orders", ("first", b"payload"))
        with traced(broker, NAMES) as trace:
            produced = wire.produce("orders", ("second", b"payload"), acks=Acks.ONE)
            _until_reply(trace)
            wait_until(lambda: bool(_about(trace.calls(), "fdatasync", segment)))
            calls = trace.calls()

    assert produced.is_acknowledged
    written = _only(calls, WRITES, segment)
    assert written.precedes(_reply(calls))
    assert written.precedes(_only(calls, "fdatasync", segment))


@pytest.mark.parametrize(
    "ask",
    [
        lambda wire: wire.create_topic("new"),
        lambda wire: wire.describe("new", is_creating=True),
        lambda wire: wire.delete_topic("orders"),
        lambda wire: wire.new_producer_id(),
    ],
    ids=["CreateTopics", "Metadata that creates", "DeleteTopics", "InitProducerId"],
)
def test_a_fact_is_synced_before_it_is_answered(
    broker: BrokerProcess, topic: Path, ask: Callable[[Wire], object]
) -> None:
    with wired(broker) as wire, traced(broker, NAMES) as trace:
        ask(wire)
        calls = _until_reply(trace)

    metadata = broker.data / "metadata" / "00000000000000000000.log"
    _assert_synced(calls, metadata, before=_reply(calls))


def _assert_synced(calls: list[Call], path: Path, *, before: Call) -> None:
    """All that was written to the file is synced, well, before the given call begins."""
    written = _about(calls, WRITES, path)
    synced = [call for call in _about(calls, "fdatasync", path) if call.precedes(before)]
    assert written, "nothing was written"
    assert synced, "nothing was synced before the reply"
    assert synced[-1].result == 0
    assert all(call.precedes(synced[-1]) for call in written)


def _until_reply(trace: Trace) -> list[Call]:
    """All calls up to the reply, which the client may have before the trace does."""
    wait_until(lambda: any(call.is_to_client for call in trace.calls()))
    return trace.calls()


def _reply(calls: list[Call]) -> Call:
    (reply,) = [call for call in calls if call.is_to_client]
    return reply


def _about(calls: list[Call], name: str, path: Path) -> list[Call]:
    return [call for call in calls if call.name in name.split(",") and call.path == str(path)]


def _only(calls: list[Call], name: str, path: Path) -> Call:
    """The one call of this name about this path that went well."""
    found = [call for call in _about(calls, name, path) if call.result >= 0]
    assert len(found) == 1, f"{len(found)} calls of {name} about {path}"
    return found[0]
