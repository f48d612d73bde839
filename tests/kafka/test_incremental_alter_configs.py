"""IncrementalAlterConfigs: settings changed one by one, and lists that grow and shrink."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from tests.kafka.altering import (
    APPEND,
    BROKER,
    BROKER_LOGGER,
    DELETE,
    SET,
    SUBTRACT,
    TOPIC,
    change,
    changed,
    configs_of,
)
from tests.kafka.serving import serving

DONE = (0, None)
POLICY = "cleanup.policy"


@pytest.mark.parametrize("version", range(2))
async def test_every_version_changes_what_is_named_and_leaves_the_rest(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        first = changed("orders", ("flush.ms", SET, "7"), ("retention.ms", SET, "8"))
        assert await change(running, first, version=version) == [DONE]
        second = changed("orders", ("flush.ms", DELETE, None), (POLICY, APPEND, "compact"))
        assert await change(running, second, version=version) == [DONE]
        assert configs_of(running, "orders") == {"retention.ms": "8", POLICY: "delete,compact"}
        third = changed("orders", (POLICY, SUBTRACT, "delete"))
        assert await change(running, third, version=version) == [DONE]
        assert configs_of(running, "orders") == {"retention.ms": "8", POLICY: "compact"}


async def test_what_was_changed_outlives_a_power_cut() -> None:
    async with serving() as running:
        await running.create("orders")
        await change(running, changed("orders", ("segment.bytes", SET, "2000")))
        await running.cut_power()
        assert configs_of(running, "orders") == {"segment.bytes": "2000"}
        log = running.broker.partition(running.broker.topic("orders"), 0)
        assert log.settings.segment_bytes == 2000


async def test_only_checking_changes_nothing() -> None:
    async with serving() as running:
        await running.create("orders")
        good = await change(running, changed("orders", ("flush.ms", SET, "7")), validate_only=True)
        bad = await change(running, changed("orders", ("flush.ms", SET, "-1")), validate_only=True)
        assert configs_of(running, "orders") == {}
    assert (good, bad[0][0]) == ([DONE], ErrorCode.INVALID_CONFIG)


@pytest.mark.parametrize(
    ("kind", "name", "changes", "code", "reason"),
    [
        (TOPIC, "nowhere", [("flush.ms", SET, "7")], 3, "does not exist"),
        (TOPIC, "no spaces", [], 17, "alphanumerics"),
        (TOPIC, "", [], 42, "Default topic resources are not allowed."),
        (TOPIC, "orders", [("flush.ms", SET, "7"), ("segment.ms", SET, "x")], 40, "type LONG"),
        (TOPIC, "orders", [("no.such", SET, "7")], 40, "Unknown topic config name: no.such"),
        (TOPIC, "orders", [("flush.ms", SET, None)], 42, "Null value not supported"),
        (TOPIC, "orders", [("flush.ms", APPEND, "7")], 40, "its type is not LIST"),
        (TOPIC, "orders", [("flush.ms", SUBTRACT, "7")], 40, "its type is not LIST"),
        (TOPIC, "orders", [(POLICY, APPEND, "foo")], 40, "one of: compact, delete"),
        (TOPIC, "orders", [("flush.ms", 9, "7")], 42, "operation type 9"),
        (TOPIC, "orders", [("flush.ms", SET, "7"), ("flush.ms", DELETE, None)], 42, "duplicate"),
        (BROKER, "1", [("num.partitions", SET, "1")], 42, "Set(num.partitions)"),
        (BROKER, "2", [], 42, "expected 1, but received 2"),
        (BROKER_LOGGER, "1", [("root", SET, "INFO")], 42, "loggers"),
        (BROKER_LOGGER, "2", [("root", SET, "INFO")], 42, "Expected 1, but received 2"),
        (1, "x", [], 42, "resource type 1"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_reason_and_hinders_no_other(
    kind: int, name: str, changes: list[tuple[str, int, str | None]], code: int, reason: str
) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.create("good")
        first, second = await change(
            running, changed(name, *changes, kind=kind), changed("good", ("flush.ms", SET, "7"))
        )
        assert configs_of(running, "orders") == {}
        assert configs_of(running, "good") == {"flush.ms": "7"}
    assert first[0] == code
    assert reason in (first[1] or "")
    assert second == DONE
