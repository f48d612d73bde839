"""What a broker never forgets, and how each fact is written down. Pure.

A fact is a JSON object in a record of the metadata log; `fact` names its kind.
"""

import json
from typing import NamedTuple

from riverlog.cluster.topics import (
    PartitionsAdded,
    TopicConfigured,
    TopicCreated,
    TopicDeleted,
    TopicFact,
)


class ClusterFormed(NamedTuple):
    """The cluster has its name, once and for all."""

    cluster_id: str


class BrokerStarted(NamedTuple):
    """A broker leads from here on at this epoch, which nobody had before."""

    epoch: int


class ProducerIdsTaken(NamedTuple):
    """Producer ids below `end` may have been given to clients."""

    end: int


Fact = ClusterFormed | BrokerStarted | ProducerIdsTaken | TopicFact


class UnknownFact(Exception):
    """The metadata log says something that this version does not know; nothing is changed."""


def encode(fact: Fact) -> bytes:
    """The fact as it stands in the metadata log."""
    match fact:
        case ClusterFormed():
            content: dict[str, object] = {"fact": "cluster formed", "cluster_id": fact.cluster_id}
        case BrokerStarted():
            content = {"fact": "broker started", "epoch": fact.epoch}
        case ProducerIdsTaken():
            content = {"fact": "producer ids taken", "end": fact.end}
        case TopicCreated():
            content = {
                "fact": "topic created",
                "topic_id": fact.topic_id.hex(),
                "name": fact.name,
                "partitions": fact.partition_count,
                "configs": dict(fact.configs),
            }
        case TopicDeleted():
            content = {"fact": "topic deleted", "topic_id": fact.topic_id.hex()}
        case TopicConfigured():
            content = {
                "fact": "topic configured",
                "topic_id": fact.topic_id.hex(),
                "configs": dict(fact.configs),
            }
        case PartitionsAdded():
            content = {
                "fact": "partitions added",
                "topic_id": fact.topic_id.hex(),
                "partitions": fact.partition_count,
            }
    return json.dumps(content).encode()


def decode(data: bytes) -> Fact:
    """Reads what `encode` wrote; raises `UnknownFact` for anything else."""
    try:
        content = json.loads(data)
        match content["fact"]:
            case "cluster formed":
                return ClusterFormed(content["cluster_id"])
            case "broker started":
                return BrokerStarted(content["epoch"])
            case "producer ids taken":
                return ProducerIdsTaken(content["end"])
            case "topic created":
                topic_id = bytes.fromhex(content["topic_id"])
                configs = content["configs"]
                return TopicCreated(topic_id, content["name"], content["partitions"], configs)
            case "topic deleted":
                return TopicDeleted(bytes.fromhex(content["topic_id"]))
            case "topic configured":
                topic_id = bytes.fromhex(content["topic_id"])
                return TopicConfigured(topic_id, content["configs"])
            case "partitions added":
                topic_id = bytes.fromhex(content["topic_id"])
                return PartitionsAdded(topic_id, content["partitions"])
    except (ValueError, KeyError, TypeError) as error:
        raise UnknownFact("a record of the metadata log is no fact") from error
    raise UnknownFact(f"the metadata log holds a fact of an unknown kind: {content['fact']!r}")
