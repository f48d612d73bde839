"""DescribeConfigs: settings of topics and of the broker, and what is refused."""

from collections.abc import Sequence

import pytest

from riverlog.broker.topic_configs import TOPIC_CONFIGS
from riverlog.config import BrokerSettings
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from tests.kafka.serving import Serving, serving

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


async def describe(
    running: Serving,
    kind: int,
    name: str,
    keys: Sequence[str] | None = None,
    *,
    version: int = 4,
    in_full: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(
        resources=[resource],
        include_synonyms=in_full,
        include_documentation=in_full and version >= 3,
    )
    (result,) = (await running.ask(request, version)).results
    assert isinstance(result, DescribeConfigsResult)
    return result


async def create_orders(running: Serving) -> None:
    topic = CreatableTopic(
        name="orders",
        num_partitions=1,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name="segment.bytes", value=" 5000 ")],
    )
    (result,) = (await running.ask(CreateTopicsRequest(topics=[topic]), 7)).topics
    assert result.error_code == 0


def by_name(result: DescribeConfigsResult) -> dict[str, DescribeConfigsResourceResult]:
    return {config.name: config for config in result.configs}


@pytest.mark.parametrize("version", range(1, 5))
async def test_every_version_tells_every_setting_of_a_topic(version: int) -> None:
    async with serving() as running:
        await create_orders(running)
        result = await describe(running, TOPIC, "orders", version=version, in_full=True)
    assert (result.error_code, result.resource_type, result.resource_name) == (0, TOPIC, "orders")
    configs = by_name(result)
    assert list(configs) == list(TOPIC_CONFIGS)
    chosen, default = configs["segment.bytes"], configs["preallocate"]
    assert (chosen.value, chosen.config_source) == ("5000", 1)
    assert (default.value, default.config_source) == ("false", 5)
    assert not any(config.read_only or config.is_sensitive for config in configs.values())
    assert [(s.name, s.value, s.source) for s in chosen.synonyms] == [
        ("segment.bytes", "5000", 1),
        ("log.segment.bytes", "134217728", 5),
    ]
    assert (chosen.config_type, default.config_type) == ((3, 1) if version >= 3 else (0, 0))
    told = default.documentation or ""
    assert ("without effect" in told) == (version >= 3)


async def test_only_what_is_asked_for_comes() -> None:
    async with serving() as running:
        await create_orders(running)
        two = await describe(running, TOPIC, "orders", ["segment.ms", "segment.bytes", "no.such"])
        none = await describe(running, TOPIC, "orders", ["no.such"])
        everything = await describe(running, TOPIC, "orders", [])
    assert list(by_name(two)) == ["segment.bytes", "segment.ms"]
    assert [(list(c.synonyms), c.documentation) for c in two.configs] == [([], None)] * 2
    assert list(none.configs) == []
    assert len(everything.configs) == len(TOPIC_CONFIGS)


async def test_a_broker_tells_its_own_settings_to_be_read_only() -> None:
    async with serving(BrokerSettings(num_partitions=7)) as running:
        result = await describe(running, BROKER, "1", in_full=True)
        port = running.listener.address.port
    configs = by_name(result)
    told = {name: (config.value, config.config_source) for name, config in configs.items()}
    assert told["num.partitions"] == ("7", 4)
    assert told["auto.create.topics.enable"] == ("true", 5)
    assert told["default.replication.factor"] == ("1", 5)
    assert told["delete.topic.enable"] == ("true", 5)
    assert told["broker.id"] == told["node.id"] == ("1", 4)
    assert told["advertised.listeners"] == (f"PLAINTEXT://127.0.0.1:{port}", 4)
    assert told["log.dirs"] == ("data", 4)
    assert told["log.segment.bytes"] == ("134217728", 5)
    assert told["log.retention.ms"] == ("604800000", 5)
    assert [(s.name, s.value, s.source) for s in configs["num.partitions"].synonyms] == [
        ("num.partitions", "7", 4),
        ("num.partitions", "4", 5),
    ]
    assert told["min.insync.replicas"] == ("1", 5)
    assert list(configs) == sorted(configs)
    assert all(config.read_only and config.documentation for config in configs.values())


async def test_nothing_is_set_for_all_brokers() -> None:
    async with serving() as running:
        result = await describe(running, BROKER, "")
    assert (result.error_code, list(result.configs)) == (0, [])


@pytest.mark.parametrize("kind", [CLIENT_METRICS, GROUP])
async def test_groups_and_metrics_have_no_settings(kind: int) -> None:
    async with serving() as running:
        result = await describe(running, kind, "any", in_full=True)
    assert (result.error_code, result.error_message, list(result.configs)) == (0, "", [])


@pytest.mark.parametrize(
    ("kind", "name", "code", "reason"),
    [
        (TOPIC, "nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "nowhere"),
        (TOPIC, "no spaces", ErrorCode.INVALID_TOPIC_EXCEPTION, "alphanumerics"),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION, "empty"),
        (BROKER, "2", ErrorCode.INVALID_REQUEST, "expected 1 or empty string, but received 2"),
        (BROKER, "x", ErrorCode.INVALID_REQUEST, "must be an integer"),
        (BROKER_LOGGER, "1", ErrorCode.INVALID_REQUEST, "loggers"),
        (BROKER_LOGGER, "2", ErrorCode.INVALID_REQUEST, "expected 1 but received 2"),
        (BROKER_LOGGER, "", ErrorCode.INVALID_REQUEST, "must not be empty"),
        (GROUP, "", ErrorCode.INVALID_REQUEST, "name"),
        (99, "x", ErrorCode.INVALID_REQUEST, "99"),
    ],
)
async def test_what_is_not_there_is_refused_with_the_reason(
    kind: int, name: str, code: ErrorCode, reason: str
) -> None:
    async with serving() as running:
        result = await describe(running, kind, name)
    assert result.error_code == code
    assert reason in (result.error_message or "")
    assert list(result.configs) == []


async def test_one_refusal_hinders_no_other() -> None:
    async with serving() as running:
        await create_orders(running)
        resources = [
            DescribeConfigsResource(
                resource_type=kind, resource_name="orders", configuration_keys=None
            )
            for kind in (99, TOPIC)
        ]
        response = await running.ask(DescribeConfigsRequest(resources=resources), 4)
    assert [result.error_code for result in response.results] == [ErrorCode.INVALID_REQUEST, 0]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([["segment.bytes"], ["preallocate"], ["segment.bytes", "no.such"]], 2),
        ([["segment.bytes"], None], len(TOPIC_CONFIGS)),
        ([[], ["segment.bytes"]], len(TOPIC_CONFIGS)),
        ([None] * 1000, len(TOPIC_CONFIGS)),
    ],
)
async def test_a_resource_that_is_named_often_is_told_of_once(
    asked: Sequence[Sequence[str] | None], told: int
) -> None:
    resources = [
        DescribeConfigsResource(
            resource_type=TOPIC, resource_name="orders", configuration_keys=keys
        )
        for keys in asked
    ]
    async with serving() as running:
        await create_orders(running)
        response = await running.ask(DescribeConfigsRequest(resources=resources), 4)
    (result,) = response.results
    assert (result.error_code, len(result.configs)) == (0, told)


@pytest.mark.parametrize("name", ["01", " 1", "+1", "\u0661"])
async def test_a_broker_id_is_written_in_one_way_alone(name: str) -> None:
    async with serving() as running:
        result = await describe(running, BROKER, name)
    assert result.error_code == ErrorCode.INVALID_REQUEST
