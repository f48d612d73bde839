"""`kill -9` under load, again and again: nothing acknowledged is lost, nothing stands there twice.

In the environment, `RIVERLOG_KILLS=100` has it killed so often; `RIVERLOG_SEED` repeats the moments
and the records of an earlier run, as far as clocks and threads allow.
"""

import os
import time
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from tests.broker_process import BrokerProcess
from tests.crash_real.chance import told_chance
from tests.crash_real.dying import BEGINNING_S_MAX, begin_and_die
from tests.crash_real.judgement import complaints, each, end_offsets, read_back_after_death
from tests.crash_real.load import Load
from tests.crash_real.strace import WRITES, is_permitted, killing
from tests.crash_real.torn import tear_tails
from tests.crash_real.waiting import is_dead, wait_until
from tests.crash_real.wire import Batch, records_of, wired

KILLS = int(os.environ.get("RIVERLOG_KILLS", "12"))
# Small segments of their own topic roll so often that death finds some of them half done.
PARTITIONS = {"orders": 2, "rolling": 2}
ROLLING_BYTES = "12000"
CALLS = f"{WRITES},fdatasync,fsync,rename,ftruncate,openat,mkdir"


@pytest.fixture
def chance() -> Random:
    return told_chance()


@pytest.fixture
def load(broker: BrokerProcess, chance: Random) -> Iterator[Load]:
    with wired(broker) as wire:
        wire.create_topic("orders", PARTITIONS["orders"])
        wire.create_topic("rolling", PARTITIONS["rolling"], segment_bytes=ROLLING_BYTES)
    load = Load(broker.bootstrap, PARTITIONS, str(chance.random()))
    load.start()
    yield load
    load.abandon()


def test_a_broker_killed_again_and_again_keeps_every_promise(
    broker: BrokerProcess, load: Load, chance: Random
) -> None:
    epochs = [_mark(broker, load, 0)]
    for number in range(1, KILLS + 1):
        load.wait_for_progress()
        if load.unexpected:
            break  # What the log holds will say more.
        if number % 3 == 2 and is_permitted():
            _die_at_a_call(broker, chance)
        else:
            time.sleep(chance.random() * 0.3)
            broker.kill()
        if number % 3 == 0:
            tear_tails(broker.data / "topics", chance)
        if number % 4 == 1:
            begin_and_die(broker, chance.random() * BEGINNING_S_MAX)
        broker.start()
        if number % 4 == 3:
            # Partitions are recovered when they are first asked for: that is what this one meets.
            time.sleep(chance.random() * 0.1)
            broker.kill()
            broker.start()
        epochs.append(_mark(broker, load, number))

    load.stop_producing()
    logs = read_back_after_death(broker, load.history, PARTITIONS)
    load.stop(end_offsets(logs))

    assert complaints(load.history) == []
    assert load.unexpected == []
    assert all(earlier < later for earlier, later in pairwise(epochs)), epochs
    for name, batches in logs.items():
        _assert_epochs_rise(name, batches, epochs)
        assert load.consumed[name] == [record.offset for record in records_of(batches)]


def _die_at_a_call(broker: BrokerProcess, chance: Random) -> None:
    """Kills the broker in the middle of its work: as it makes one of the calls that count."""
    pid = broker.pid
    with killing(broker, CALLS, chance.randint(1, 60)):
        wait_until(lambda: is_dead(pid), lambda: "the broker makes no system calls")
    broker.kill()


def _mark(broker: BrokerProcess, load: Load, number: int) -> int:
    """Leaves a record in every partition in this life of the broker; gives its leader epoch."""
    with wired(broker, load.history) as wire:
        epoch = wire.leader_epoch("orders")
        for topic, index in each(PARTITIONS):
            name = f"mark {number} in {topic}-{index}"
            assert wire.produce(topic, (name, b"%d" % epoch), partition=index).is_acknowledged
    return epoch


def _assert_epochs_rise(name: str, batches: list[Batch], epochs: list[int]) -> None:
    found = [batch.leader_epoch for batch in batches]
    assert found == sorted(found), f"epochs of {name} fall"
    marked = [
        (batch.leader_epoch, int(record.payload))
        for batch in batches
        for record in batch.records
        if record.record_id.startswith("mark ")
    ]
    assert marked == [(epoch, epoch) for epoch in epochs]
