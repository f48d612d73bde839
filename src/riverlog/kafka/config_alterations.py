"""What AlterConfigs and IncrementalAlterConfigs have in common: what may be altered at all."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from riverlog.cluster.topics import check_name
from riverlog.kafka.apis import Context
from riverlog.kafka.config_entries import BROKER, BROKER_LOGGER, TOPIC
from riverlog.kafka.errors import ANSWERABLE, InvalidRequest, code_of, message_of
from riverlog.protocol.error_codes import ErrorCode


class Altered(Protocol):
    """A setting that is to be altered."""

    name: str


A = TypeVar("A", bound=Altered)


class Resource(NamedTuple):
    """What is to be altered, in either request."""

    kind: int
    name: str


class Outcome(NamedTuple):
    """How it went for one resource; the fields of either reply."""

    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str


async def alter_each(
    resources: Sequence[tuple[Resource, Sequence[A]]],
    alter_topic: Callable[[str, Sequence[A]], Awaitable[None]],
    context: Context,
    *,
    knows_loggers: bool,
) -> list[Outcome]:
    """Alters every topic with `alter_topic`, all at once so that they share the same syncs.

    A broker's settings are its own from start to end; one failure hinders no other.
    """
    mentions = Counter(resource for resource, _ in resources)

    async def alter(resource: Resource, configs: Sequence[A]) -> Outcome:
        error_code, message = ErrorCode.NONE, None
        try:
            if mentions[resource] > 1:
                raise InvalidRequest("Each resource must appear at most once.")
            if len({config.name for config in configs}) < len(configs):
                raise InvalidRequest("Error due to duplicate config keys")
            if resource.kind == TOPIC:
                if not resource.name:
                    raise InvalidRequest("Default topic resources are not allowed.")
                check_name(resource.name)
                await alter_topic(resource.name, configs)
            elif resource.kind == BROKER:
                _check_unaltered(resource.name, configs, context)
            elif resource.kind == BROKER_LOGGER and knows_loggers:
                _refuse_loggers(resource.name, context)
            else:
                raise InvalidRequest(f"Unknown resource type {resource.kind}")
        except ANSWERABLE as error:
            error_code, message = code_of(error), message_of(error)
        return Outcome(error_code, message, resource.kind, resource.name)

    return await asyncio.gather(*(alter(resource, configs) for resource, configs in resources))


def given(name: str, value: str | None) -> str:
    """The value of a setting; raises if there is none."""
    if value is None:
        raise InvalidRequest(f"Null value not supported for : {name}")
    return value


def _check_unaltered(name: str, configs: Sequence[Altered], context: Context) -> None:
    if name:
        broker_id = _node_id(name)
        if broker_id != context.broker.node_id:
            raise InvalidRequest(
                f"Unexpected broker id, expected {context.broker.node_id}, but received {broker_id}"
            )
    if configs:
        names = ", ".join(sorted(config.name for config in configs))
        raise InvalidRequest(f"Cannot update these configs dynamically: Set({names})")


def _refuse_loggers(name: str, context: Context) -> None:
    broker_id = _node_id(name)
    if broker_id != context.broker.node_id:
        raise InvalidRequest(
            f"Unexpected node id. Expected {context.broker.node_id}, but received {broker_id}"
        )
    raise InvalidRequest("The loggers of this broker have no levels of their own")


def _node_id(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise InvalidRequest(f"Node id must be an integer, but it is: {name}") from None
