"""IncrementalAlterConfigs v0-1.

* Of a topic's settings, those that are named are set or deleted, or a list among them gets longer
  or shorter; the others stay. All of it is durable before the reply, and in effect, or none.
* A broker's settings are read-only, and so is its logging.
* An operation that nobody knows is INVALID_REQUEST.
"""

from collections.abc import Mapping, Sequence

from riverlog.broker.config_changes import ConfigChange, Operation
from riverlog.kafka.apis import Context
from riverlog.kafka.config_alterations import Resource, alter_each, given
from riverlog.kafka.errors import InvalidRequest
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

_OPERATIONS: Mapping[int, Operation] = {0: "SET", 1: "DELETE", 2: "APPEND", 3: "SUBTRACT"}


async def handle(
    request: IncrementalAlterConfigsRequest, context: Context
) -> IncrementalAlterConfigsResponse:
    async def alter_topic(name: str, configs: Sequence[AlterableConfig]) -> None:
        changes = [_change(config) for config in configs]
        await context.broker.changes.change_configs(name, changes, only_check=request.validate_only)

    resources = [
        (Resource(resource.resource_type, resource.resource_name), list(resource.configs))
        for resource in request.resources
    ]
    outcomes = await alter_each(resources, alter_topic, context, knows_loggers=True)
    return IncrementalAlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(**outcome._asdict()) for outcome in outcomes]
    )


def _change(config: AlterableConfig) -> ConfigChange:
    operation = _OPERATIONS.get(config.config_operation)
    if operation is None:
        raise InvalidRequest(f"Unknown operation type {config.config_operation}")
    if operation == "DELETE":
        return ConfigChange(config.name, operation)
    return ConfigChange(config.name, operation, given(config.name, config.value))
