"""Settings as DescribeConfigs and CreateTopics spell them: numbers for kinds and sources."""

from collections.abc import Mapping

from riverlog.broker.config_kinds import KindName
from riverlog.broker.configs_in_effect import Source

TOPIC = 2
BROKER = 4
BROKER_LOGGER = 8
CLIENT_METRICS = 16
GROUP = 32

SOURCES: Mapping[Source, int] = {"topic": 1, "broker": 4, "default": 5}
KINDS: Mapping[KindName, int] = {
    "BOOLEAN": 1, "STRING": 2, "INT": 3, "LONG": 5, "DOUBLE": 6, "LIST": 7,
}  # fmt: skip
