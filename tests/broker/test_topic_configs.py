"""Topic settings: the table, what is refused and in which words, what has an effect."""

import subprocess
import sys

import pytest

from riverlog.broker.config_docs import documentation_of
from riverlog.broker.errors import InvalidConfig
from riverlog.broker.topic_configs import TOPIC_CONFIGS, check, default_of, settings_from
from riverlog.log.settings import INT64_MAX, LogSettings

# What `kafka-configs --describe --all` lists for a topic of Apache Kafka 4.2: name, kind, default.
KAFKAS = {
    "cleanup.policy": ("LIST", "delete"),
    "compression.gzip.level": ("INT", "-1"),
    "compression.lz4.level": ("INT", "9"),
    "compression.type": ("STRING", "producer"),
    "compression.zstd.level": ("INT", "3"),
    "delete.retention.ms": ("LONG", "86400000"),
    "file.delete.delay.ms": ("LONG", "60000"),
    "flush.messages": ("LONG", "9223372036854775807"),
    "flush.ms": ("LONG", "9223372036854775807"),
    "follower.replication.throttled.replicas": ("LIST", ""),
    "index.interval.bytes": ("INT", "4096"),
    "leader.replication.throttled.replicas": ("LIST", ""),
    "local.retention.bytes": ("LONG", "-2"),
    "local.retention.ms": ("LONG", "-2"),
    "max.compaction.lag.ms": ("LONG", "9223372036854775807"),
    "max.message.bytes": ("INT", "1048588"),
    "message.timestamp.after.max.ms": ("LONG", "3600000"),
    "message.timestamp.before.max.ms": ("LONG", "9223372036854775807"),
    "message.timestamp.type": ("STRING", "CreateTime"),
    "min.cleanable.dirty.ratio": ("DOUBLE", "0.5"),
    "min.compaction.lag.ms": ("LONG", "0"),
    "min.insync.replicas": ("INT", "1"),
    "preallocate": ("BOOLEAN", "false"),
    "remote.log.copy.disable": ("BOOLEAN", "false"),
    "remote.log.delete.on.disable": ("BOOLEAN", "false"),
    "remote.storage.enable": ("BOOLEAN", "false"),
    "retention.bytes": ("LONG", "-1"),
    "retention.ms": ("LONG", "604800000"),
    "segment.bytes": ("INT", "1073741824"),
    "segment.index.bytes": ("INT", "10485760"),
    "segment.jitter.ms": ("LONG", "0"),
    "segment.ms": ("LONG", "604800000"),
    "unclean.leader.election.enable": ("BOOLEAN", "false"),
}
# Smaller files than Kafka's, so that old data go in finer steps.
OUR_DEFAULTS = {"segment.bytes": "134217728"}


def test_every_setting_of_kafka_is_there_with_its_kind_and_default() -> None:
    ours = {
        name: (config.kind, default_of(config, LogSettings()))
        for name, config in TOPIC_CONFIGS.items()
        if not name.startswith("riverlog.")
    }
    expected = {
        name: (kind, OUR_DEFAULTS.get(name, default)) for name, (kind, default) in KAFKAS.items()
    }
    assert ours == expected


def test_settings_stand_in_the_order_of_their_names() -> None:
    assert list(TOPIC_CONFIGS) == sorted(TOPIC_CONFIGS)


@pytest.mark.parametrize("name", TOPIC_CONFIGS)
def test_every_default_may_be_set(name: str) -> None:
    check({name: default_of(TOPIC_CONFIGS[name], LogSettings())})


@pytest.mark.parametrize("name", TOPIC_CONFIGS)
def test_the_documentation_says_whether_a_setting_has_an_effect(name: str) -> None:
    told = documentation_of(name)
    assert ("without effect" in told) == (TOPIC_CONFIGS[name].field == "")
    assert documentation_of(TOPIC_CONFIGS[name].broker_name or name) == told


def test_a_broker_that_nobody_asks_never_loads_the_documentation() -> None:
    code = "import sys, riverlog.app; sys.exit('riverlog.broker.config_docs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retention.ms", " 1000 "),
        ("retention.ms", "+5"),
        ("retention.ms", "-1"),
        ("retention.bytes", "-2"),
        ("cleanup.policy", ""),
        ("cleanup.policy", "compact, delete"),
        ("cleanup.policy", "delete,delete"),
        ("preallocate", "TRUE"),
        ("min.cleanable.dirty.ratio", "1e-1"),
        ("compression.gzip.level", "-1"),
        ("leader.replication.throttled.replicas", "*"),
        ("leader.replication.throttled.replicas", "0:1, 1:1"),
        ("min.insync.replicas", "5"),
        ("segment.bytes", "14"),
        ("riverlog.segment.records", str(INT64_MAX)),
    ],
)
def test_these_values_are_taken(name: str, text: str) -> None:
    check({name: text})


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"no.such": "1"}, "Unknown topic config name: no.such"),
        ({"message.format.version": "2.0"}, "Unknown topic config name: message.format.version"),
        (
            {"segment.bytes": "x"},
            "Invalid value x for configuration segment.bytes: Not a number of type INT",
        ),
        (
            {"segment.bytes": ""},
            "Invalid value  for configuration segment.bytes: Not a number of type INT",
        ),
        (
            {"segment.bytes": "5000000000"},
            "Invalid value 5000000000 for configuration segment.bytes: Not a number of type INT",
        ),
        (
            {"retention.ms": "1_000"},
            "Invalid value 1_000 for configuration retention.ms: Not a number of type LONG",
        ),
        (
            {"retention.ms": "{name}"},
            "Invalid value {name} for configuration retention.ms: Not a number of type LONG",
        ),
        (
            {"retention.ms": str(INT64_MAX + 1)},
            f"Invalid value {INT64_MAX + 1} for configuration retention.ms: "
            "Not a number of type LONG",
        ),
        (
            {"retention.ms": "-2"},
            "Invalid value -2 for configuration retention.ms: Value must be at least -1",
        ),
        (
            {"cleanup.policy": "foo"},
            "Invalid value foo for configuration cleanup.policy: "
            "String must be one of: compact, delete",
        ),
        (
            {"cleanup.policy": "delete,"},
            "Configuration 'cleanup.policy' values must not be empty.",
        ),
        (
            {"compression.gzip.level": "0"},
            "Invalid value 0 for configuration compression.gzip.level: "
            "Value must be between 1 and 9 or equal to -1",
        ),
        (
            {"compression.lz4.level": "18"},
            "Invalid value 18 for configuration compression.lz4.level: "
            "Value must be no more than 17",
        ),
        (
            {"preallocate": "yes"},
            "Invalid value yes for configuration preallocate: "
            "Expected value to be either true or false",
        ),
        (
            {"min.cleanable.dirty.ratio": "2"},
            "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: "
            "Value must be no more than 1",
        ),
        (
            {"min.cleanable.dirty.ratio": "NaN"},
            "Invalid value NaN for configuration min.cleanable.dirty.ratio: "
            "Not a number of type DOUBLE",
        ),
        (
            {"leader.replication.throttled.replicas": "*,0:1"},
            "Invalid value [*, 0:1] for configuration leader.replication.throttled.replicas: "
            "leader.replication.throttled.replicas must be the literal '*' or a list of replicas "
            "in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
        ),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (
            {"remote.storage.enable": "true"},
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        ),
    ],
)
def test_others_are_refused_in_kafkas_words(configs: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        check(configs)
    assert str(refused.value) == message


def test_what_has_an_effect_becomes_a_setting_of_the_log() -> None:
    configs = {
        "segment.bytes": "2000",
        "segment.ms": "30",
        "riverlog.segment.records": "4",
        "max.message.bytes": " 500 ",
        "message.timestamp.type": "LogAppendTime",
        "message.timestamp.before.max.ms": "6",
        "message.timestamp.after.max.ms": "7",
        "min.insync.replicas": "8",
        "cleanup.policy": "compact , delete",
        "retention.ms": "9",
        "retention.bytes": "10",
        "riverlog.retention.segments": "11",
        "file.delete.delay.ms": "12",
    }
    defaults = LogSettings(checkpoint_bytes=99)
    expected = LogSettings(
        segment_bytes=2000,
        segment_ms=30,
        segment_records=4,
        message_bytes_max=500,
        uses_append_time=True,
        timestamp_before_ms_max=6,
        timestamp_after_ms_max=7,
        checkpoint_bytes=99,
        cleanup_policy="compact,delete",
        retention_ms=9,
        retention_bytes=10,
        retention_segments=11,
        file_delete_delay_ms=12,
    )
    assert settings_from(configs, defaults) == expected


def test_a_stored_setting_that_nobody_can_read_leaves_the_default() -> None:
    configs = {"segment.bytes": "lots", "of.another.version": "1", "segment.ms": "5"}
    assert settings_from(configs, LogSettings()) == LogSettings(segment_ms=5)


def test_a_stored_setting_that_nobody_can_read_lets_no_record_go() -> None:
    names = ["cleanup.policy", "retention.ms", "retention.bytes", "riverlog.retention.segments"]
    defaults = LogSettings(retention_ms=1, retention_bytes=2, retention_segments=3)
    found = settings_from(dict.fromkeys(names, "?"), defaults)
    assert not found.deletes
    assert (found.retention_ms, found.retention_bytes, found.retention_segments) == (-1, -1, -1)
