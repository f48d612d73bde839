"""What clients change about a topic's settings, one at a time. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from riverlog.broker.config_kinds import items
from riverlog.broker.errors import InvalidConfig
from riverlog.broker.topic_configs import TOPIC_CONFIGS, default_of
from riverlog.log.settings import LogSettings

Operation = Literal["SET", "DELETE", "APPEND", "SUBTRACT"]


class ConfigChange(NamedTuple):
    """One change. `APPEND` and `SUBTRACT` add to lists and take from them."""

    name: str
    operation: Operation
    value: str = ""


def changed(
    configs: Mapping[str, str], changes: Sequence[ConfigChange], defaults: LogSettings
) -> dict[str, str]:
    """A topic's settings after the changes, unchecked; raises `InvalidConfig` for lists that
    are none.

    A list that the topic has not set itself begins with the default.
    """
    result = dict(configs)
    for name, operation, value in changes:
        match operation:
            case "SET":
                result[name] = value
            case "DELETE":
                result.pop(name, None)
            case _:
                config = TOPIC_CONFIGS.get(name)
                if config is None or config.kind != "LIST":
                    raise InvalidConfig(
                        f"Can't {operation} to key {name} because its type is not LIST."
                    )
                had = items(result.get(name, default_of(config, defaults)))
                meant = items(value)
                if operation == "APPEND":
                    kept = [*had, *(part for part in meant if part not in had)]
                else:
                    kept = [part for part in had if part not in meant]
                result[name] = ",".join(kept)
    return result
