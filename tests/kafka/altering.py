"""What the tests of both ways to alter settings ask."""

from riverlog.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterableConfig as Change,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource as ChangedResource,
)
from riverlog.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.kafka.serving import Serving

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)

Reply = list[tuple[int, str | None]]


def resource(name: str, configs: dict[str, str | None], kind: int = TOPIC) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[AlterableConfig(name=key, value=value) for key, value in configs.items()],
    )


def changed(name: str, *changes: tuple[str, int, str | None], kind: int = TOPIC) -> ChangedResource:
    return ChangedResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            Change(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


async def alter(
    running: Serving,
    *resources: AlterConfigsResource,
    version: int = 2,
    validate_only: bool = False,
) -> Reply:
    """The reply to AlterConfigs: code and message for each resource, in the order asked."""
    request = AlterConfigsRequest(resources=resources, validate_only=validate_only)
    responses = list((await running.ask(request, version)).responses)
    assert [(r.resource_type, r.resource_name) for r in responses] == [
        (r.resource_type, r.resource_name) for r in resources
    ]
    return [(r.error_code, r.error_message) for r in responses]


async def change(
    running: Serving, *resources: ChangedResource, version: int = 1, validate_only: bool = False
) -> Reply:
    """The same for IncrementalAlterConfigs."""
    request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)
    responses = list((await running.ask(request, version)).responses)
    assert [(r.resource_type, r.resource_name) for r in responses] == [
        (r.resource_type, r.resource_name) for r in resources
    ]
    return [(r.error_code, r.error_message) for r in responses]


def configs_of(running: Serving, topic: str) -> dict[str, str]:
    """What the topic has of its own."""
    return dict(running.broker.topic(topic).configs)
