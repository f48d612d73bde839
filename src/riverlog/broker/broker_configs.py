"""A broker's settings as Kafka's tools ask for them: by Kafka's names, to be read only."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from riverlog.broker.config_kinds import KindName, written
from riverlog.broker.configs_in_effect import ConfigInEffect, Source, Synonym
from riverlog.broker.topic_configs import TOPIC_CONFIGS, default_of
from riverlog.config import BrokerSettings
from riverlog.log.settings import LogSettings


class Described(Protocol):
    """The broker, as far as its settings are concerned."""

    node_id: int
    settings: BrokerSettings
    defaults: LogSettings
    root: str


# Kafka's names for the fields of `BrokerSettings`, and the kinds that it has them in.
_SETTINGS: dict[str, tuple[KindName, str]] = {
    "auto.create.topics.enable": ("BOOLEAN", "auto_create_topics"),
    "log.retention.check.interval.ms": ("LONG", "retention_check_ms"),
    "num.partitions": ("INT", "num_partitions"),
    "producer.id.expiration.ms": ("INT", "producer_expiration_ms"),
}

# What is so of every broker of ours.
_ALWAYS: dict[str, tuple[KindName, str]] = {
    "default.replication.factor": ("INT", "1"),
    "delete.topic.enable": ("BOOLEAN", "true"),
    "offsets.topic.replication.factor": ("INT", "1"),
    "process.roles": ("LIST", "broker,controller"),
}


def broker_configs(broker: Described, told: Mapping[str, str]) -> list[ConfigInEffect]:
    """All that this broker can say of its settings, and what its door has `told`, by name."""
    return sorted([*_own(broker, told), *_of_topics(broker.defaults)])


def _own(broker: Described, told: Mapping[str, str]) -> Iterator[ConfigInEffect]:
    node_id = str(broker.node_id)
    yield _config("broker.id", "INT", node_id, "broker")
    yield _config("node.id", "INT", node_id, "broker")
    yield _config("log.dirs", "LIST", broker.root, "broker")
    for name, text in told.items():
        yield _config(name, "LIST", text, "broker")
    for name, (kind, text) in _ALWAYS.items():
        yield _config(name, kind, text, "default")
    for name, (kind, field) in _SETTINGS.items():
        value, built_in = (getattr(s, field) for s in (broker.settings, BrokerSettings()))
        yield _chosen(name, kind, written(value), written(built_in))


def _of_topics(defaults: LogSettings) -> Iterator[ConfigInEffect]:
    """What topics have unless they say otherwise, by the names it has for brokers."""
    for config in TOPIC_CONFIGS.values():
        if config.broker_name:
            value, built_in = (default_of(config, d) for d in (defaults, LogSettings()))
            yield _chosen(config.broker_name, config.kind, value, built_in)


def _chosen(name: str, kind: KindName, text: str, built_in: str) -> ConfigInEffect:
    if text == built_in:
        return _config(name, kind, text, "default")
    synonyms = (Synonym(name, text, "broker"), Synonym(name, built_in, "default"))
    return ConfigInEffect(name, text, kind, "broker", synonyms)


def _config(name: str, kind: KindName, text: str, source: Source) -> ConfigInEffect:
    return ConfigInEffect(name, text, kind, source, (Synonym(name, text, source),))
