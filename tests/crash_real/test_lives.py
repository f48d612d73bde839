"""What outlives the process: the end of a topic, and data that were moved somewhere else."""

from pathlib import Path

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.judgement import complaints, read_back_after_death
from tests.crash_real.wire import records_of, wired


def test_a_deleted_topic_stays_deleted_when_the_broker_is_killed(broker: BrokerProcess) -> None:
    with wired(broker) as wire:
        old_id = wire.create_topic("orders")
        wire.produce("orders", ("old", b"payload"))
        wire.delete_topic("orders")
    broker.kill()
    broker.start()

    with wired(broker) as wire:
        assert wire.describe("orders").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert wire.fetch(old_id, 0).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert not (broker.data / "topics" / old_id.hex()).exists()


def test_a_topic_made_again_is_another_one_and_stays_so_when_the_broker_is_killed(
    broker: BrokerProcess,
) -> None:
    with wired(broker) as wire:
        old_id = wire.create_topic("orders")
        for number in range(3):
            wire.produce("orders", (f"old {number}", b"payload"))
        wire.delete_topic("orders")
        new_id = wire.create_topic("orders")
    broker.kill()
    broker.start()

    with wired(broker) as wire:
        assert new_id != old_id
        assert wire.describe("orders").topic_id == new_id
        assert wire.produce("orders", ("new", b"payload")).base_offset == 0
        assert wire.fetch(old_id, 0).error_code == ErrorCode.UNKNOWN_TOPIC_ID
        assert [r.record_id for r in records_of(wire.read(new_id))] == ["new"]
        assert [r.record_id for r in records_of(wire.read("orders"))] == ["new"]


def test_topics_deleted_and_made_again_under_kills_never_come_back(broker: BrokerProcess) -> None:
    dead_ids = []
    for number in range(4):
        with wired(broker) as wire:
            topic_id = wire.create_topic("orders", 3)
            for index in range(3):
                produced = wire.produce("orders", (f"{number}", b"payload"), partition=index)
                assert produced.base_offset == 0
            wire.delete_topic("orders")
            dead_ids.append(topic_id)
        # Its files are taken away meanwhile; death finds some of them.
        broker.kill()
        broker.start()
        with wired(broker) as wire:
            for dead_id in dead_ids:
                assert wire.fetch(dead_id, 0).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert list((broker.data / "topics").iterdir()) == []


def test_a_data_directory_may_be_moved(
    broker: BrokerProcess, history: History, tmp_path: Path
) -> None:
    with wired(broker, history) as wire:
        topic_id = wire.create_topic("orders", segment_bytes="2000")
        for number in range(10):
            wire.produce("orders", (f"before {number}", bytes(700)))
    old = broker.data
    for death, place in [(broker.kill, "first"), (broker.terminate, "second")]:
        death()
        broker.data = tmp_path / "elsewhere" / place
        broker.data.parent.mkdir(exist_ok=True)
        old.rename(broker.data)
        old = broker.data
        broker.start()
        with wired(broker, history) as wire:
            assert wire.produce("orders", (f"in {place}", b"payload")).is_acknowledged
    with wired(broker, history) as wire:
        assert wire.describe("orders").topic_id == topic_id
    read_back_after_death(broker, history, {"orders": 1})

    assert complaints(history) == []
    assert "damage" not in broker.stderr
    assert not (tmp_path / "data").exists(), "something was written where the data were"
