"""The settings that a topic has, its own and others', and where each comes from."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from riverlog.broker.config_kinds import KindName, written
from riverlog.broker.errors import InvalidConfig
from riverlog.broker.topic_configs import TOPIC_CONFIGS, TopicConfig, default_of, read
from riverlog.log.settings import LogSettings

# Who chose a value: the topic, whoever started the broker, or nobody.
Source = Literal["topic", "broker", "default"]

_BUILT_IN = LogSettings()


class Synonym(NamedTuple):
    """A setting that would give the value if those before it did not."""

    name: str
    value: str
    source: Source


class ConfigInEffect(NamedTuple):
    """A setting as clients see it; the first of its synonyms, if any, is where it comes from."""

    name: str
    value: str
    kind: KindName
    source: Source
    synonyms: tuple[Synonym, ...]


def in_effect(configs: Mapping[str, str], defaults: LogSettings) -> Iterator[ConfigInEffect]:
    """All settings of a topic that has `configs` of its own, by name."""
    for config in TOPIC_CONFIGS.values():
        chosen = list(_choices(config, configs, defaults))
        first = chosen[0]
        if config.is_bare or not config.broker_name:
            chosen = [choice for choice in chosen if choice.source != "default"]
        yield ConfigInEffect(config.name, first.value, config.kind, first.source, tuple(chosen))


def _choices(
    config: TopicConfig, configs: Mapping[str, str], defaults: LogSettings
) -> Iterator[Synonym]:
    """What gives a setting its value, and what would if that did not."""
    if config.name in configs:
        text = configs[config.name]
        with suppress(InvalidConfig):
            text = written(read(config, text))
        yield Synonym(config.name, text, "topic")
    built_in = default_of(config, _BUILT_IN)
    at_start = default_of(config, defaults)
    if at_start != built_in:
        yield Synonym(config.broker_name, at_start, "broker")
    yield Synonym(config.broker_name, built_in, "default")
