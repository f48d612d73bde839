"""DescribeConfigs v1-4.

* TOPIC: every topic setting of Kafka 4.2 and ours. v3 adds kinds and documentation; that of a
  setting without effect here says so.
* BROKER: this broker's settings by Kafka's names, all read-only; those of "" (for all brokers) are
  none, as nothing is set that way.
* CLIENT_METRICS and GROUP: none. Kafka's are settings of client telemetry and of the newer group
  protocols, which are not served here.
* Who names a resource twice is told of it once, with the settings asked for in either place, where
  Kafka repeats it: a reply is no larger than what there is to tell.
* BROKER_LOGGER, and the kinds of resources that we do not have, are refused with INVALID_REQUEST,
  each on its own; Kafka refuses the whole request when it does not know one.
"""

from collections.abc import Iterable

from riverlog.broker.broker_configs import broker_configs
from riverlog.broker.config_docs import documentation_of
from riverlog.broker.configs_in_effect import ConfigInEffect, in_effect
from riverlog.cluster.topics import check_name
from riverlog.kafka.apis import Context
from riverlog.kafka.config_entries import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    KINDS,
    SOURCES,
    TOPIC,
)
from riverlog.kafka.errors import ANSWERABLE, InvalidRequest, code_of, message_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def handle(request: DescribeConfigsRequest, context: Context) -> DescribeConfigsResponse:
    keys_by_resource: dict[tuple[int, str], set[str]] = {}
    whole = set()
    for one in request.resources:
        resource = one.resource_type, one.resource_name
        keys = keys_by_resource.setdefault(resource, set())
        if one.configuration_keys:
            keys.update(one.configuration_keys)
        else:
            whole.add(resource)
    return DescribeConfigsResponse(
        results=[
            _describe(resource, None if resource in whole else keys, request, context)
            for resource, keys in keys_by_resource.items()
        ]
    )


def _describe(
    resource: tuple[int, str],
    keys: set[str] | None,
    request: DescribeConfigsRequest,
    context: Context,
) -> DescribeConfigsResult:
    """What is set there, or those of it that have these keys."""
    kind, name = resource
    error_code, message, results = ErrorCode.NONE, "", []
    try:
        results = [
            _result(config, kind == BROKER, request)
            for config in _configs(kind, name, context)
            if keys is None or config.name in keys
        ]
    except ANSWERABLE as error:
        error_code, message = code_of(error), message_of(error)
    return DescribeConfigsResult(
        error_code=error_code,
        error_message=message,
        resource_type=kind,
        resource_name=name,
        configs=results,
    )


def _configs(kind: int, name: str, context: Context) -> Iterable[ConfigInEffect]:
    broker = context.broker
    if kind == TOPIC:
        check_name(name)
        return in_effect(broker.topic(name).configs, broker.defaults)
    if kind == BROKER:
        if not name:
            return ()
        _check_broker_id(name, f"{broker.node_id} or empty string,", context)
        return broker_configs(broker, {"advertised.listeners": f"PLAINTEXT://{context.advertised}"})
    if kind == BROKER_LOGGER:
        if not name:
            raise InvalidRequest("Broker id must not be empty")
        _check_broker_id(name, str(broker.node_id), context)
        raise InvalidRequest("The loggers of this broker have no levels of their own")
    if kind in (CLIENT_METRICS, GROUP):
        if not name:
            raise InvalidRequest("A group or a metrics subscription has a name")
        return ()
    raise InvalidRequest(f"Unknown resource type {kind}")


def _check_broker_id(name: str, expected: str, context: Context) -> None:
    try:
        broker_id = int(name)
    except ValueError:
        raise InvalidRequest(f"Broker id must be an integer, but it is: {name}") from None
    # Written in one way alone: it could be told of once for each.
    if broker_id != context.broker.node_id or name != str(broker_id):
        raise InvalidRequest(f"Unexpected broker id, expected {expected} but received {name}")


def _result(
    config: ConfigInEffect, is_read_only: bool, request: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    documentation = documentation_of(config.name) if request.include_documentation else None
    synonyms = config.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=config.name,
        value=config.value,
        read_only=is_read_only,
        config_source=SOURCES[config.source],
        is_sensitive=False,
        synonyms=[
            DescribeConfigsSynonym(name=name, value=value, source=SOURCES[source])
            for name, value, source in synonyms
        ],
        config_type=KINDS[config.kind],
        documentation=documentation,
    )
