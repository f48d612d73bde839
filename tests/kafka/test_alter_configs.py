"""AlterConfigs: a topic's settings replaced, durably and at once; what is refused."""

import asyncio

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.alter_configs import AlterableConfig
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.altering import BROKER, BROKER_LOGGER, TOPIC, alter, configs_of, resource
from tests.kafka.serving import serving

DONE = (0, None)


@pytest.mark.parametrize("version", range(3))
async def test_every_version_replaces_all_that_was_set(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        given: dict[str, str | None] = {"retention.ms": "5", "segment.ms": "6"}
        assert await alter(running, resource("orders", given), version=version) == [DONE]
        assert configs_of(running, "orders") == given
        assert await alter(running, resource("orders", {"flush.ms": "7"}), version=version) == [
            DONE
        ]
        assert configs_of(running, "orders") == {"flush.ms": "7"}
        assert await alter(running, resource("orders", {}), version=version) == [DONE]
        assert configs_of(running, "orders") == {}


async def test_what_was_altered_outlives_a_power_cut_and_a_restart() -> None:
    async with serving() as running:
        await running.create("orders")
        await alter(running, resource("orders", {"max.message.bytes": "300"}))
        await running.cut_power()
        assert configs_of(running, "orders") == {"max.message.bytes": "300"}
        await running.restart()
        assert configs_of(running, "orders") == {"max.message.bytes": "300"}
        log = running.broker.partition(running.broker.topic("orders"), 0)
        assert log.settings.message_bytes_max == 300


async def test_the_reply_waits_for_the_disk_and_resources_share_a_sync() -> None:
    async with serving() as running:
        for number in range(5):
            await running.create(f"topic-{number}")
        running.syncer.hold()
        resources = [resource(f"topic-{number}", {"flush.ms": "7"}) for number in range(5)]
        asked = asyncio.ensure_future(alter(running, *resources))
        await asyncio.sleep(0.05)
        assert running.syncer.held_count == 1
        assert not asked.done()
        assert configs_of(running, "topic-0") == {}
        running.syncer.let_go()
        assert await asked == [DONE] * 5


async def test_only_checking_alters_nothing() -> None:
    async with serving() as running:
        await running.create("orders")
        replies = await alter(
            running, resource("orders", {"flush.ms": "7"}), validate_only=True
        ) + await alter(running, resource("orders", {"flush.ms": "x"}), validate_only=True)
        assert configs_of(running, "orders") == {}
    assert [code for code, _ in replies] == [0, ErrorCode.INVALID_CONFIG]


@pytest.mark.parametrize(
    ("kind", "name", "configs", "code", "reason"),
    [
        (TOPIC, "nowhere", {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "does not exist"),
        (TOPIC, "no spaces", {}, ErrorCode.INVALID_TOPIC_EXCEPTION, "alphanumerics"),
        (TOPIC, "", {}, ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed."),
        (TOPIC, "orders", {"no.such": "1"}, ErrorCode.INVALID_CONFIG, "no.such"),
        (TOPIC, "orders", {"flush.ms": "x"}, ErrorCode.INVALID_CONFIG, "type LONG"),
        (TOPIC, "orders", {"flush.ms": None}, ErrorCode.INVALID_REQUEST, "Null value"),
        (BROKER, "1", {"num.partitions": "1"}, ErrorCode.INVALID_REQUEST, "num.partitions"),
        (BROKER, "", {"log.retention.ms": "1"}, ErrorCode.INVALID_REQUEST, "dynamically"),
        (BROKER, "2", {}, ErrorCode.INVALID_REQUEST, "expected 1, but received 2"),
        (BROKER, "x", {}, ErrorCode.INVALID_REQUEST, "Node id must be an integer"),
        (BROKER_LOGGER, "1", {"root": "INFO"}, ErrorCode.INVALID_REQUEST, "resource type 8"),
        (99, "x", {}, ErrorCode.INVALID_REQUEST, "resource type 99"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_reason_and_hinders_no_other(
    kind: int, name: str, configs: dict[str, str | None], code: ErrorCode, reason: str
) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.create("good")
        first, second = await alter(
            running, resource(name, configs, kind), resource("good", {"flush.ms": "7"})
        )
        assert configs_of(running, "orders") == {}
        assert configs_of(running, "good") == {"flush.ms": "7"}
    assert first[0] == code
    assert reason in (first[1] or "")
    assert second == DONE


async def test_a_resource_or_a_setting_named_twice_is_altered_by_neither() -> None:
    async with serving() as running:
        await running.create("orders")
        twice = resource("orders", {"flush.ms": "7"})
        replies = await alter(running, twice, twice)
        one = AlterableConfig(name="flush.ms", value="7")
        twice.configs = [one, one]
        replies += await alter(running, twice)
        assert configs_of(running, "orders") == {}
    assert [code for code, _ in replies] == [ErrorCode.INVALID_REQUEST] * 3


async def test_nothing_of_a_broker_may_be_altered_and_nothing_is_no_mistake() -> None:
    async with serving() as running:
        assert await alter(running, resource("1", {}, BROKER)) == [DONE]


async def test_a_disk_that_fails_is_told_and_leaves_the_settings() -> None:
    async with serving() as running:
        await running.create("orders")
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        ((code, _),) = await alter(running, resource("orders", {"flush.ms": "7"}))
        assert configs_of(running, "orders") == {}
        assert await alter(running, resource("orders", {"flush.ms": "8"})) == [DONE]
    assert code == ErrorCode.KAFKA_STORAGE_ERROR
