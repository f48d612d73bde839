"""The `kafka.*` options: those we act on, those that change nothing here, and no others."""

from collections.abc import Mapping
from typing import Any

from riverlog.client.settings import ClientSettings
from riverlog.records.compression import Codec
from riverlog.spark.errors import InvalidOption
from riverlog.tables.brokers import SETTINGS

PREFIX = "kafka."

# Our name of a setting that is a number.
_NUMBERS = {
    "request.timeout.ms": "request_timeout_ms",
    "default.api.timeout.ms": "timeout_ms",
    "delivery.timeout.ms": "timeout_ms",
    "socket.connection.setup.timeout.ms": "connect_timeout_ms",
    "retry.backoff.ms": "backoff_ms_min",
    "retry.backoff.max.ms": "backoff_ms_max",
    "fetch.max.bytes": "fetch_bytes_max",
    "max.partition.fetch.bytes": "partition_fetch_bytes_max",
    "fetch.max.wait.ms": "fetch_wait_ms",
    "batch.size": "batch_bytes_max",
    "buffer.memory": "buffer_bytes_max",
}

# What has one value here, whether it is given or not.
_FIXED = {
    "acks": ("all", "-1"),
    "enable.idempotence": ("true",),
    "isolation.level": ("read_uncommitted",),
    "security.protocol": ("plaintext",),
}

# They tune the Java client and change nothing that anybody could read or write.
_WITHOUT_EFFECT = frozenset(
    {
        "check.crcs", "client.dns.lookup", "client.rack", "connections.max.idle.ms",
        "fetch.min.bytes", "heartbeat.interval.ms", "linger.ms", "max.block.ms",
        "max.in.flight.requests.per.connection", "max.poll.interval.ms", "max.poll.records",
        "max.request.size", "metadata.max.age.ms", "receive.buffer.bytes",
        "reconnect.backoff.max.ms", "reconnect.backoff.ms", "retries", "send.buffer.bytes",
        "session.timeout.ms", "socket.connection.setup.timeout.max.ms",
    }
)  # fmt: skip

# Refused by Spark's own Kafka source too, and what to use instead.
_REFUSED = {
    "auto.offset.reset": "say where to begin with startingOffsets",
    "enable.auto.commit": "Spark itself keeps the offsets",
    "interceptor.classes": "there are no interceptors",
    "partitioner.class": "keys decide as in the Java client, and a column 'partition' before them",
    "key.deserializer": "keys are binary; use Spark's functions on the column",
    "value.deserializer": "values are binary; use Spark's functions on the column",
    "key.serializer": "keys are binary or string columns",
    "value.serializer": "values are binary or string columns",
}


def bootstrap_of(options: Mapping[str, str]) -> str:
    """Where the brokers are; raises `InvalidOption`."""
    found = options.get("kafka.bootstrap.servers", "").strip()
    if not found:
        raise InvalidOption("kafka.bootstrap.servers is needed: where the brokers are, host:port")
    return found


def client_settings(options: Mapping[str, str]) -> ClientSettings:
    """Settings from the `kafka.*` options, in lower case; raises `InvalidOption`."""
    changes: dict[str, Any] = {"client_id": "riverlog-spark"}
    for option, value in options.items():
        name = option.removeprefix(PREFIX)
        if name == option or name in ("bootstrap.servers", "group.id"):
            continue
        if name == "client.id":
            changes["client_id"] = value
        elif name in _NUMBERS:
            changes[_NUMBERS[name]] = whole_number(option, value, 1)
        elif name == "compression.type":
            changes["compression"] = _codec(option, value)
        elif name in _FIXED:
            if value.strip().lower() not in _FIXED[name]:
                raise InvalidOption(f"{option} is always {_FIXED[name][0]} here, not '{value}'")
        elif name in _REFUSED:
            raise InvalidOption(f"{option} cannot be set: {_REFUSED[name]}")
        elif name not in _WITHOUT_EFFECT:
            raise InvalidOption(f"{option} is not known here")
    return SETTINGS._replace(**changes)


def whole_number(option: str, value: str, least: int) -> int:
    """A number that is at least `least`; raises `InvalidOption`."""
    text = value.strip()
    if not text.isdecimal() or int(text) < least:
        raise InvalidOption(f"{option} is a whole number of at least {least}, not '{value}'")
    return int(text)


def _codec(option: str, value: str) -> Codec:
    try:
        return Codec[value.strip().upper()]
    except KeyError:
        known = ", ".join(codec.name.lower() for codec in Codec)
        raise InvalidOption(f"{option} is one of {known}, not '{value}'") from None
