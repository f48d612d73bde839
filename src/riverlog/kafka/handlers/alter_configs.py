"""AlterConfigs v0-2.

* A topic's settings are replaced: what the request leaves out goes back to its default. They are
  durable before the reply, and in effect.
* A broker's settings are read-only, and so is its logging.
* A resource that is named twice is refused, both times.
"""

from collections.abc import Sequence

from riverlog.kafka.apis import Context
from riverlog.kafka.config_alterations import Resource, alter_each, given
from riverlog.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(request: AlterConfigsRequest, context: Context) -> AlterConfigsResponse:
    async def alter_topic(name: str, configs: Sequence[AlterableConfig]) -> None:
        texts = {config.name: given(config.name, config.value) for config in configs}
        await context.broker.changes.set_configs(name, texts, only_check=request.validate_only)

    resources = [
        (Resource(resource.resource_type, resource.resource_name), list(resource.configs))
        for resource in request.resources
    ]
    outcomes = await alter_each(resources, alter_topic, context, knows_loggers=False)
    return AlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(**outcome._asdict()) for outcome in outcomes]
    )
